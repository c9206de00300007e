package dev.fenceline.jdbc;

import java.sql.Connection;

/** A unit with transactions of its own, one after the other. */
final class OwnUnit extends OpenUnit<Claim<Connection>> {

    private final Claim<Connection> claim;

    OwnUnit(ConnectionSource<Connection> source, Claim<Connection> claim) {
        super(source.origin(), claim);
        this.claim = claim;
    }

    @Override
    Claim<Connection> context() {
        return claim;
    }
}
