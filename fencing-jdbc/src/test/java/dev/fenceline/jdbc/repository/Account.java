package dev.fenceline.jdbc.repository;

record Account(int id, long balance) {

    Account plus(long amount) {
        return new Account(id, balance + amount);
    }
}
