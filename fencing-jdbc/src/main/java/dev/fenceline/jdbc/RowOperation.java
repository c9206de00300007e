package dev.fenceline.jdbc;

import java.time.OffsetDateTime;
import java.util.UUID;

/**
 * A write that records itself.
 *
 * @param id of the record
 * @param begunAt a time of the server, not later than the write
 */
record RowOperation(UUID id, OffsetDateTime begunAt) {}
