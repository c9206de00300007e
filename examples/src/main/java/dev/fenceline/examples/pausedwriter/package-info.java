/**
 * The paused writer: two real processes book account movements under one Redis lock, one of them is stopped after its read
 * and woken after its lease, and the books tell what each kind of check is worth.
 */
@NullMarked
package dev.fenceline.examples.pausedwriter;

import org.jspecify.annotations.NullMarked;
