/** A small service of Spring Boot whose data survive writers that slept: an annotation, an aspect and two data sources. */
@NullMarked
package dev.fenceline.examples.springboot;

import org.jspecify.annotations.NullMarked;
