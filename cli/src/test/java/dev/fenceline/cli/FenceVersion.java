package dev.fenceline.cli;

/** The version that this release installs, as the database tells it. */
final class FenceVersion {

    private static final String NEWEST =
            Database.installed().rows("SELECT fenceline.version_v1()").get(0);

    private FenceVersion() {}

    static String newest() {
        return NEWEST;
    }
}
