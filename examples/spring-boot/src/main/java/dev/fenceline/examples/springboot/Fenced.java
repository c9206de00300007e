package dev.fenceline.examples.springboot;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** The method is one unit of work under a lock: everything that it reads, computes and writes. It goes on the service, beside or
 * outside of {@code @Transactional}. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Fenced {

    /** The class of the locks, such as {@code account}. */
    String value();

    /** The key, as an expression over the arguments, such as {@code #id}. Of several keys each is a lock, and all are held. */
    String[] key();
}
