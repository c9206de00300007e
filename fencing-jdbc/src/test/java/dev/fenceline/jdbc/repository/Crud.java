package dev.fenceline.jdbc.repository;

import java.util.List;

/** What half the world's repositories extend. */
interface Crud<T, K> {

    T save(T entity);

    void saveAll(List<? extends T> entities);

    void deleteById(K id);
}
