package dev.fenceline.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Copies the directory of a running primary for a standby, by PostgreSQL's own low-level backup functions: the shared server of
 * a test run cannot stop for it, and the embedded binaries hold no pg_basebackup.
 */
final class PostgresBackup {

    /** Their content belongs to the running server; the standby streams its log instead of copying it. */
    private static final Set<String> EMPTIED = Set.of(
            "pg_wal",
            "pg_replslot",
            "pg_dynshmem",
            "pg_notify",
            "pg_serial",
            "pg_snapshots",
            "pg_stat_tmp",
            "pg_subtrans");

    private PostgresBackup() {}

    static void take(DataSource primary, Path source, Path target) {
        try (Connection connection = primary.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_backup_start('standby', true)");
            DataDirectory.copy(source, target, EMPTIED);
            try (ResultSet rows = statement.executeQuery("SELECT labelfile FROM pg_backup_stop(false)")) {
                rows.next();
                // Without the label, recovery would begin at a later checkpoint than the copied files.
                Files.writeString(target.resolve("backup_label"), rows.getString(1));
            }
        } catch (SQLException e) {
            throw new IllegalStateException("PostgreSQL refused the backup for a standby: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot copy " + source + " to " + target + ".", e);
        }
    }
}
