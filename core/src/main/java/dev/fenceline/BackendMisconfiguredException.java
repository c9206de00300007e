package dev.fenceline;

import org.jspecify.annotations.Nullable;

/**
 * The lock server or the storage is set up in a way that is unsafe or cannot work: wrong password, missing schema, a replica,
 * an eviction policy. Nothing happened. Trying again does not help; the message names the setting for whoever can change it.
 */
public final class BackendMisconfiguredException extends FencelineException {

    private static final long serialVersionUID = 1L;

    /**
     * Reports a setting.
     *
     * @param message which setting of what, its value, why it is refused, and what to set instead
     * @param cause what the driver said
     */
    public BackendMisconfiguredException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
