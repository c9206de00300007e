package dev.fenceline.examples;

import dev.fenceline.migrations.FenceMigrations;
import javax.sql.DataSource;

/** Brings the fence schema into a database, and lets the role of the application use it. */
public final class InstallTheFence {

    private InstallTheFence() {}

    /**
     * Installs the schema and grants its use to the role {@code app}.
     *
     * @param args the JDBC URL of PostgreSQL, as the owner of the schema
     */
    public static void main(String[] args) {
        install(AccountTable.database(args[0]));
    }

    static void install(DataSource owner) {
        // snippet: install
        FenceMigrations migrations = FenceMigrations.on(owner);
        migrations.install();
        migrations.grantTo("app"); // the role of your application: it may call the fence, and touch no table of it
        // end snippet
    }
}
