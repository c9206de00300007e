package dev.fenceline.jdbc;

import dev.fenceline.FencedLease;
import dev.fenceline.FencedLeases;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * What a session presents: the token of its lock, or of several, in the order in which everybody takes them.
 *
 * @param all sorted by the bytes of the locks' names
 */
record Tokens(List<FencingToken> all) {

    Tokens {
        List<FencingToken> inOrder = new ArrayList<>(all);
        if (inOrder.isEmpty()) {
            throw new IllegalArgumentException("No token given: a claim needs that of at least one lock.");
        }
        inOrder.sort(Comparator.comparing(FencingToken::lock));
        for (int i = 1; i < inOrder.size(); i++) {
            if (inOrder.get(i).lock().equals(inOrder.get(i - 1).lock())) {
                throw new IllegalArgumentException(
                        "Two tokens of lock '" + inOrder.get(i).lock()
                                + "' given: a claim has one of each lock, and the newer has ended the older.");
            }
        }
        all = List.copyOf(inOrder);
    }

    static Tokens of(FencingToken token) {
        return new Tokens(List.of(token));
    }

    static Tokens of(Collection<FencingToken> tokens) {
        return new Tokens(List.copyOf(tokens));
    }

    static Tokens of(FencedLeases leases) {
        return new Tokens(leases.all().stream().map(FencedLease::token).toList());
    }

    /** The token of one of the locks. */
    FencingToken of(LockName lock) {
        return all.stream()
                .filter(token -> token.lock().equals(lock))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException("No token of lock '" + lock + "' here; there are " + this));
    }

    /** How long the answer to a step may take that waits for one lock after the other, and then crosses the network. */
    Duration longestAnswer(Duration waitForEach) {
        return waitForEach.multipliedBy(all.size()).plus(FenceSettings.NETWORK_ALLOWANCE);
    }

    boolean areSeveral() {
        return all.size() > 1;
    }

    String resource() {
        return areSeveral()
                ? all.stream()
                        .map(token -> "'" + token.lock() + "'")
                        .collect(Collectors.joining(", ", "PostgreSQL guards ", ""))
                : Refusals.resource(all.get(0).lock());
    }

    String[] locks() {
        return all.stream().map(token -> token.lock().toString()).toArray(String[]::new);
    }

    Long[] values() {
        return all.stream().map(FencingToken::value).toArray(Long[]::new);
    }

    UUID[] holders() {
        return all.stream().map(FencingToken::holder).toArray(UUID[]::new);
    }

    /** For messages: {@code token 5/… of 'account:1'}. */
    @Override
    public String toString() {
        return all.stream()
                .map(FencingToken::toString)
                .collect(Collectors.joining(", ", areSeveral() ? "tokens " : "token ", ""));
    }
}
