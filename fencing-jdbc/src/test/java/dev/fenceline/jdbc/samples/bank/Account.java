package dev.fenceline.jdbc.samples.bank;

public record Account(long id, String owner, long balance) {

    public Account withBalance(long changed) {
        return new Account(id, owner, changed);
    }
}
