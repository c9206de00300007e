/** The drop-in: a repository that was written without locks, put under the fence as it is. */
@NullMarked
package dev.fenceline.jdbc.repository;

import org.jspecify.annotations.NullMarked;
