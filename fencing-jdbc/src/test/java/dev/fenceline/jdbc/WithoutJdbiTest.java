package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Jdbi is optional. */
@Tag("server")
class WithoutJdbiTest {

    /** Defines our classes anew, in a world that has no Jdbi. */
    private static final class NoJdbi extends ClassLoader {

        NoJdbi() {
            super(WithoutJdbiTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.jdbi.")) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("dev.fenceline.jdbc.")) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : defined(name);
            }
        }

        private Class<?> defined(String name) throws ClassNotFoundException {
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                if (in == null) {
                    throw new ClassNotFoundException(name);
                }
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Runs in the world without Jdbi. */
    public static final class Program {

        private Program() {}

        public static String run(DataSource source, String token) throws Exception {
            return PostgresFence.on(source)
                    .claim(dev.fenceline.FencingToken.parse(token))
                    .inTransaction(c -> "ran in "
                            + Program.class.getClassLoader().getClass().getSimpleName());
        }
    }

    /** Likewise, with the wrapper. */
    public static final class WrappingProgram {

        private WrappingProgram() {}

        /** What is wrapped. */
        public interface Texts {
            String find(String id);
        }

        public static String run(DataSource source, dev.fenceline.Locks locks) {
            return dev.fenceline.jdbc.repository.FencedRepository.of(Texts.class, PostgresFence.on(source), locks)
                    .delegate(id -> "found " + id)
                    .reads("find")
                    .build()
                    .proxy()
                    .find("in "
                            + WrappingProgram.class.getClassLoader().getClass().getSimpleName());
        }
    }

    @Test
    void aRepositoryIsWrappedWhereThereIsNoJdbi() throws Exception {
        dev.fenceline.Locks locks = (dev.fenceline.Locks) java.lang.reflect.Proxy.newProxyInstance(
                WithoutJdbiTest.class.getClassLoader(),
                new Class<?>[] {dev.fenceline.Locks.class},
                (proxy, method, arguments) -> {
                    throw new AssertionError(method + " called");
                });

        assertThat(new NoJdbi()
                        .loadClass(WrappingProgram.class.getName())
                        .getMethod("run", DataSource.class, dev.fenceline.Locks.class)
                        .invoke(null, new org.postgresql.ds.PGSimpleDataSource(), locks))
                .isEqualTo("found in NoJdbi");
    }

    @Test
    void thePlainFenceWorksWhereThereIsNoJdbi() throws Exception {
        TestDatabase database = TestDatabase.create();
        NoJdbi world = new NoJdbi();

        Object result = world.loadClass(Program.class.getName())
                .getMethod("run", DataSource.class, String.class)
                .invoke(null, database.source(), Grants.next(Grants.freshLock()).encode());

        assertThat(result).isEqualTo("ran in NoJdbi");
        assertThatThrownBy(() -> world.loadClass(JdbiFence.class.getName()).getMethods())
                .as("the world really has no Jdbi")
                .isInstanceOf(NoClassDefFoundError.class)
                .hasMessageContaining("org/jdbi/");
    }
}
