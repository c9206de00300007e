package dev.fenceline.s3;

/**
 * Hears how far data has come on its way to the store, after each part. Called on the writer's thread; what it throws ends the
 * write, of which nothing happened then.
 *
 * <p><b>Thread-safety:</b> called from as many threads as write.
 */
@FunctionalInterface
public interface S3Progress {

    /**
     * Hears of bytes that the store has taken.
     *
     * @param key of the data
     * @param transferred how many in all
     */
    void on(String key, long transferred);

    /**
     * Hears nothing.
     *
     * @return a listener without effect
     */
    static S3Progress none() {
        return (key, transferred) -> {};
    }
}
