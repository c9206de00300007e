package dev.fenceline.s3;

/** What a pointer names is not there: the pointer has changed since it was read, and the data was removed after that. */
final class DataGone extends Exception {

    private static final long serialVersionUID = 1L;

    DataGone(DataObject object, Throwable cause) {
        super(object.key(), cause);
    }
}
