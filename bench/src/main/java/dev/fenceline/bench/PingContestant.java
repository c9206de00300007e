package dev.fenceline.bench;

/** Locks nothing: one PING to enter and one to leave, the least that two round trips cost through this client. */
final class PingContestant extends LettuceContestant {

    PingContestant(String redis) {
        super(Entrant.PING, redis);
    }

    @Override
    public Mutex lock(String name) {
        return () -> {
            answer(commands().ping());
            return () -> answer(commands().ping());
        };
    }
}
