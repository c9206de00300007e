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

    /** PostgreSQL 15 renamed the functions, when it dropped the backups of which there could be one at a time. */
    private record Functions(String begin, String end) {

        static Functions of(int majorVersion) {
            return majorVersion < 15
                    ? new Functions("pg_start_backup('standby', true, false)", "pg_stop_backup(false, false)")
                    : new Functions("pg_backup_start('standby', true)", "pg_backup_stop(false)");
        }
    }

    private PostgresBackup() {}

    static void take(DataSource primary, Path source, Path target) {
        Functions functions = Functions.of(PostgresSessions.majorVersion(primary));
        try (Connection connection = primary.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SELECT " + functions.begin());
            DataDirectory.copy(source, target, EMPTIED);
            try (ResultSet rows = statement.executeQuery("SELECT labelfile FROM " + functions.end())) {
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
