package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which rules for locks apply to a method: by its types, through generics, bridges and inheritance. No server is asked. */
class TypesOfMethodsTest {

    interface Saving<T, K> {
        <S extends T> S save(S entity);

        void saveAll(Iterable<? extends T> entities);

        void drop(K key);

        void mark(T[] entities);
    }

    interface Keyed<E> extends Saving<E, Long> {
        @Override
        void drop(Long id);
    }

    interface Users extends Keyed<Users.User> {
        record User(String name) {}

        void merge(Set<User> users, Collection<List<User>> nested);

        void keep(UserList users);
    }

    static final class UserList extends ArrayList<Users.User> {
        private static final long serialVersionUID = 1L;
    }

    private static RepositoryBuilder<Users> users() {
        return RepositoryBuilderTest.of(Users.class)
                .lock("user", "id")
                .lock(Users.User.class, user -> LockName.of("user", user.name()))
                .lockEach(Users.User.class, user -> LockName.of("user", user.name()));
    }

    @Test
    void typesAreKnownThroughGenericsAndBridges() {
        Users users = users().build().proxy();
        Saving<Users.User, Long> saving = users;
        Users.User eva = new Users.User("eva");
        UserList list = new UserList();
        list.add(eva);

        for (Runnable call : List.<Runnable>of(
                () -> users.save(eva),
                () -> saving.save(eva),
                () -> saving.saveAll(list),
                () -> saving.mark(new Users.User[] {eva}),
                () -> users.merge(new HashSet<>(list), List.of()),
                () -> users.keep(list))) {
            assertThatThrownBy(call::run)
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining("under 'user:eva' refused outside of a unit");
        }
        assertThatThrownBy(() -> saving.drop(5L))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Users.drop(Long) under 'user:5' refused outside of a unit");
    }

    @Test
    void anExtractorThatReturnsNullIsNamed() {
        Users users = RepositoryBuilderTest.of(Users.class)
                .lock("user", "id")
                .lock(Users.User.class, user -> null)
                .lockEach(Users.User.class, user -> LockName.of("user", user.name()))
                .build()
                .proxy();

        assertThatThrownBy(() -> users.save(new Users.User("eva")))
                .isInstanceOf(NullPointerException.class)
                .hasMessage(
                        "the function of .lock or .lockEach for User returned null for argument 1, and not the name of"
                                + " a lock");
    }

    interface Merging {
        void merge(Users.User into, List<Users.User> others);

        void moveAll(Users.User from, Users.User... to);
    }

    private static RepositoryBuilder<Merging> merging() {
        return RepositoryBuilderTest.of(Merging.class).lock(Users.User.class, user -> LockName.of("user", user.name()));
    }

    @Test
    void rule10AMethodOfWhichOnlySomeLocksAreFoundIsRefused() {
        assertThatThrownBy(() -> merging().build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("FencedRepository of Merging cannot be built:\n"
                        + "- merge(User, List) has several User in one argument, and the locks of these are"
                        + " found by no rule: .lockEach(User.class, it -> LockName.of(…)), or"
                        + " .lockBy(\"merge\", arguments -> LockName.of(…)) for one lock of all\n"
                        + "- moveAll(User, User[]) has several User in one argument, and the locks of these"
                        + " are found by no rule: .lockEach(User.class, it -> LockName.of(…)), or"
                        + " .lockBy(\"moveAll\", arguments -> LockName.of(…)) for one lock of all");
        Merging each = merging()
                .lockEach(Users.User.class, user -> LockName.of("user", user.name()))
                .build()
                .proxy();
        assertThatThrownBy(() -> each.moveAll(new Users.User("eva"), new Users.User("ida"), new Users.User("eva")))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(
                        "Merging.moveAll(User, User[]) under 'user:eva', 'user:ida' refused outside of a unit");
        Merging coarse = merging()
                .lockBy("m*", arguments -> LockName.of("users"))
                .build()
                .proxy();
        assertThatThrownBy(() -> coarse.merge(new Users.User("eva"), List.of()))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Merging.merge(User, List) under 'users' refused outside of a unit");
    }
}
