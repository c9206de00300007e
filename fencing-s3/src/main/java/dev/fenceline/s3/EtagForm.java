package dev.fenceline.s3;

/** How a store wants to have an ETag back. */
public enum EtagForm {
    /** As it was received, which by the standard is in quotes. */
    AS_RECEIVED,
    /** Without the quotes; so for instance Ceph's gateway before version 17. */
    UNQUOTED;

    String of(String received) {
        return this == UNQUOTED ? received.replace("\"", "") : received;
    }
}
