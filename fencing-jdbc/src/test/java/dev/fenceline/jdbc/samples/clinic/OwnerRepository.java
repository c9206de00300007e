package dev.fenceline.jdbc.samples.clinic;

import java.util.Collection;

public interface OwnerRepository {

    Owner findById(int ownerId);

    Collection<Owner> findByLastName(String lastName);

    /** Inserts the owner if it is new, updates it otherwise; its pets likewise. */
    void save(Owner owner);

    void delete(int ownerId);
}
