/** What locks cost: JMH for single steps, and runs side by side with other libraries on one server. */
@NullMarked
package dev.fenceline.bench;

import org.jspecify.annotations.NullMarked;
