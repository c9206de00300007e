package dev.fenceline.examples.springboot;

import org.springframework.data.jpa.repository.JpaRepository;

/** The accounts, through JPA. */
interface Accounts extends JpaRepository<Account, Long> {}
