package dev.fenceline.examples.pausedwriter;

/** What a session belongs to: the bulk of the work, one of the two staged pauses, or a movement tried again after one. */
enum Scene {
    BULK("bulk"),
    FIRST_PAUSE("pause 1"),
    SECOND_PAUSE("pause 2");

    private final String title;

    Scene(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }
}
