/** Real servers, faults, paused processes and the contract suites. Start at {@code Servers}. */
@NullMarked
package dev.fenceline.testkit;

import org.jspecify.annotations.NullMarked;
