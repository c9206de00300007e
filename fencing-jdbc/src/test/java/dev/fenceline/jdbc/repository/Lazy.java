package dev.fenceline.jdbc.repository;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** Accounts that go to the database only where there is something to do. */
final class Lazy {

    private Lazy() {}

    static Accounts over(Accounts accounts) {
        return (Accounts) Proxy.newProxyInstance(
                Accounts.class.getClassLoader(), new Class<?>[] {Accounts.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("withdraw") && arguments[1].equals(0L)) {
                        return 0L;
                    }
                    try {
                        return method.invoke(accounts, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }
}
