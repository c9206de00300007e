package dev.fenceline.bench;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.util.concurrent.ExecutionException;

/** One plain Lettuce connection with the options that Lettuce comes with. */
abstract class LettuceContestant implements Contestant {

    private final Entrant entrant;
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    LettuceContestant(Entrant entrant, String redis) {
        this.entrant = entrant;
        this.client = RedisClient.create(redis);
        this.connection = client.connect();
    }

    final RedisAsyncCommands<String, String> commands() {
        return connection.async();
    }

    static <T> T answer(RedisFuture<T> sent) throws ExecutionException, InterruptedException {
        return sent.get();
    }

    @Override
    public final Entrant entrant() {
        return entrant;
    }

    @Override
    public final void close() {
        connection.close();
        client.shutdown();
    }
}
