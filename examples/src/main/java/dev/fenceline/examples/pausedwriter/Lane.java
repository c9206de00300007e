package dev.fenceline.examples.pausedwriter;

/** The four rows of a timeline, from top to bottom. */
enum Lane {
    REDIS(0, "Redis"),
    WRITER_A(1, "writer A"),
    WRITER_B(2, "writer B"),
    ROW(3, "the row");

    private final int position;
    private final String title;

    Lane(int position, String title) {
        this.position = position;
        this.title = title;
    }

    /** 0 at the top. */
    int position() {
        return position;
    }

    String title() {
        return title;
    }

    static Lane of(String writer) {
        return writer.equals("A") ? WRITER_A : WRITER_B;
    }
}
