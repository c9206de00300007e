package dev.fenceline.migrations;

/**
 * How far the raising of all marks has come in one table: told after each batch, which is committed by then.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param relation the table, quoted where it must be; {@code fenceline.guard} comes first
 * @param looked how many marks of it were looked at so far
 * @param raised how many of these were raised; the others were raised by an earlier run, were never claimed, or are in use
 * @param done whether this was the last batch of the table
 */
public record RestoreProgress(String relation, long looked, long raised, boolean done) {}
