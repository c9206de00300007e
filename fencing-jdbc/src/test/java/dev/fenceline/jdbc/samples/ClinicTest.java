package dev.fenceline.jdbc.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.jdbc.repository.FencedRepository;
import dev.fenceline.jdbc.samples.clinic.JdbcOwnerRepository;
import dev.fenceline.jdbc.samples.clinic.Owner;
import dev.fenceline.jdbc.samples.clinic.OwnerRepository;
import dev.fenceline.jdbc.samples.clinic.Pet;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.RealServers;
import dev.fenceline.testkit.RedisServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A pet clinic's repository over a data source, with own transactions, auto-commit and batches, wrapped as it is. */
@Tag("server")
@RealServers
class ClinicTest {

    private static final LockName OWNER = LockName.of("owner", 1);

    private final DataSource database;
    private final TwoAtOnce play;
    private final Locks locks;
    private final FencedRepository<OwnerRepository> owners;

    ClinicTest(DataSource database, RedisServer redis, LockOptions.Builder options) {
        this.database = database;
        this.play = new TwoAtOnce(database, "owners WHERE id = 1");
        this.locks = RedisLocks.connect(redis.uri(), options.listener(play).build());
        PostgresFence fence = PostgresFence.on(database);
        this.owners = FencedRepository.of(OwnerRepository.class, fence, locks)
                .delegate(new JdbcOwnerRepository(fence.dataSource()))
                .lock("owner", "ownerId")
                .lock(Owner.class, owner -> LockName.of("owner", owner.isNew() ? "new" : "" + owner.getId()))
                .reads("find*")
                .build();
    }

    @BeforeAll
    static void schema(DataSource database) throws SQLException {
        FenceMigrations.on(database).install();
        execute(database, """
                CREATE TABLE owners (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, first_name text NOT NULL,
                    last_name text NOT NULL, city text NOT NULL, telephone text NOT NULL);
                CREATE TABLE pets (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL,
                    birth_date date NOT NULL, owner_id int NOT NULL REFERENCES owners)""");
    }

    @BeforeEach
    void anOwner() throws SQLException {
        execute(database, """
                TRUNCATE owners, pets RESTART IDENTITY;
                INSERT INTO owners (first_name, last_name, city, telephone)
                    VALUES ('George', 'Franklin', 'Madison', '6085551023')""");
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void twoDesksChangeOneOwnerAndNothingIsLost() throws Exception {
        play.fenced(
                () -> {
                    owners.unit(OWNER, repository -> moved(repository));
                    return true;
                },
                () -> {
                    owners.unit(OWNER, repository -> reached(repository));
                    return true;
                });

        Owner owner = owners.proxy().findById(1);
        assertThat(owner.getCity()).isEqualTo("Sun Prairie");
        assertThat(owner.getTelephone()).isEqualTo("6085550000");
    }

    @Test
    void withoutTheWrapperOneOfTheChangesIsLost() throws Exception {
        OwnerRepository bare = new JdbcOwnerRepository(database);
        play.unfenced(
                () -> {
                    moved(bare);
                    return true;
                },
                () -> {
                    reached(bare);
                    return true;
                });

        Owner owner = bare.findById(1);
        assertThat(owner.getCity().equals("Sun Prairie") && owner.getTelephone().equals("6085550000"))
                .as("both changes are there: %s, %s", owner.getCity(), owner.getTelephone())
                .isFalse();
    }

    private static void moved(OwnerRepository repository) {
        Owner owner = repository.findById(1);
        owner.setCity("Sun Prairie");
        repository.save(owner);
    }

    private static void reached(OwnerRepository repository) {
        Owner owner = repository.findById(1);
        owner.setTelephone("6085550000");
        repository.save(owner);
    }

    @Test
    void savingOutsideOfAUnitIsRefusedAndChangesNothing() {
        Owner owner = owners.proxy().findById(1);
        owner.setCity("Sun Prairie");
        assertThatThrownBy(() -> owners.proxy().save(owner))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("LockName.of(\"owner\", 1)");
        assertThat(owners.proxy().findById(1).getCity()).isEqualTo("Madison");
    }

    @Test
    void insertsKeysPetsAndBatchesWorkAsBefore() throws Exception {
        Owner fresh = new Owner();
        fresh.setFirstName("Betty");
        fresh.setLastName("Davis");
        fresh.setCity("Madison");
        fresh.setTelephone("6085551749");
        fresh.addPet(new Pet("Basil", LocalDate.of(2012, 8, 6)));
        owners.unit(LockName.of("owner", "new"), repository -> repository.save(fresh));

        assertThat(fresh.getId()).isEqualTo(2);
        assertThat(owners.proxy().findByLastName("Dav"))
                .singleElement()
                .satisfies(owner ->
                        assertThat(owner.getPets()).extracting(Pet::getName).containsExactly("Basil"));

        owners.unit(LockName.of("owner", 2), repository -> repository.delete(2));
        assertThat(owners.proxy().findByLastName("Dav")).isEmpty();
    }

    private static void execute(DataSource database, String sql) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
