package dev.fenceline.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What leaves a unit's scope is caught by protected tables; without them it writes unfenced (UnitTest shows it). */
@Tag("server")
class ProtectedScopeTest {

    static ProtectedBank bank;

    PostgresFence fence;
    DataSource source;

    @BeforeAll
    static void create() {
        bank = ProtectedBank.create();
    }

    @BeforeEach
    void fill() {
        bank.fill();
        fence = PostgresFence.on(bank.source());
        source = fence.dataSource();
    }

    private void add(int id) throws SQLException {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE vault SET balance = balance + 1 WHERE id = " + id);
        }
    }

    @Test
    void inTheUnitItsOwnRowsAreWritten() throws Exception {
        fence.unit(Grants.lock(LockName.of("vault", 1))).run(claim -> add(1));
        assertThat(bank.contents()).startsWith("(1,101) (2,200) | ");
    }

    @Test
    void n9AThreadOfAPoolInsideOfAUnitIsRefused() throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            fence.unit(Grants.lock(LockName.of("vault", 1)))
                    .run(claim -> assertThatThrownBy(() -> threads.submit(() -> {
                                        add(1);
                                        return null;
                                    })
                                    .get(20, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(SQLException.class)
                            .hasMessageContaining("vault"));
        } finally {
            threads.shutdownNow();
        }
        assertThat(bank.contents()).startsWith("(1,100) (2,200) | ");
    }

    @Test
    void aRowOfAnotherLockIsRefusedInBothModes() throws Exception {
        for (boolean autoCommit : new boolean[] {true, false}) {
            assertThatThrownBy(() -> fence.unit(Grants.lock(LockName.of("vault", 1)))
                            .run(claim -> {
                                try (Connection connection = source.getConnection();
                                        Statement statement = connection.createStatement()) {
                                    connection.setAutoCommit(autoCommit);
                                    statement.executeUpdate("UPDATE vault SET balance = 0 WHERE id = 2");
                                }
                            }))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessageContaining("Take the lock of every row that the work writes (fencedAll for several).");
        }
        assertThat(bank.contents()).startsWith("(1,100) (2,200) | ");
    }
}
