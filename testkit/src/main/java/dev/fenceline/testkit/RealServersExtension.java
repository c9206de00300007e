package dev.fenceline.testkit;

import dev.fenceline.LockOptions;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/** What {@link RealServers} does. Nothing here is newer than JUnit 5.12, or gone from 6. */
final class RealServersExtension implements ParameterResolver, AfterAllCallback {

    private static final Namespace NAMESPACE = Namespace.create(RealServersExtension.class);

    private static final Map<Class<?>, Function<TestSpace, Object>> OFFERED = Map.of(
            DataSource.class, TestSpace::database,
            LockOptions.class, space -> space.lockOptions().build(),
            LockOptions.Builder.class, TestSpace::lockOptions,
            RedisServer.class, space -> SharedServers.redis(),
            PostgresServer.class, space -> SharedServers.postgres(),
            S3Server.class, space -> SharedServers.s3(),
            // Asked for to be killed or paused, which all other tests would notice.
            RedisProcess.class, space -> refused("RedisServer", "redis(RedisSpec.master())"),
            PostgresProcess.class, space -> refused("PostgresServer", "postgres(PostgresSpec.primary())"));

    RealServersExtension() {}

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return OFFERED.containsKey(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Function<TestSpace, Object> offer =
                Objects.requireNonNull(OFFERED.get(parameter.getParameter().getType()));
        return offer.apply(spaceOf(outermost(context)));
    }

    private static Object refused(String type, String ownOne) {
        throw new ParameterResolutionException(
                "@RealServers gives no server that can be killed or paused, since all tests of this"
                        + " JVM share it. Ask for a " + type + ", or take one of your own: Servers.embedded()." + ownOne
                        + ".");
    }

    /** The class that no test class surrounds: what it and its nested classes share hangs on its context. */
    private static ExtensionContext outermost(ExtensionContext context) {
        ExtensionContext outermost = context;
        for (ExtensionContext around = context;
                around.getTestClass().isPresent();
                around = around.getParent().orElseThrow()) {
            outermost = around;
        }
        return outermost;
    }

    /** Not at the start of the class: an instance for all its methods is made before that, and may ask for something. */
    private static synchronized TestSpace spaceOf(ExtensionContext testClass) {
        Store store = testClass.getStore(NAMESPACE);
        TestSpace space = store.get(TestSpace.class, TestSpace.class);
        if (space == null) {
            space = new TestSpace(testClass.getRequiredTestClass());
            store.put(TestSpace.class, space);
        }
        return space;
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (context.equals(outermost(context))) {
            TestSpace space = context.getStore(NAMESPACE).remove(TestSpace.class, TestSpace.class);
            if (space != null) {
                space.end();
            }
        }
    }
}
