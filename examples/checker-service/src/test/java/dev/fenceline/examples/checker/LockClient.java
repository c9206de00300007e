package dev.fenceline.examples.checker;

import dev.fenceline.FencedLease;
import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.lock.RedisLocks;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A process that has the lock and no access to the database: it reads through the service, waits to be told, and writes 10 more. */
final class LockClient {

    private LockClient() {}

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[1]);
        long account = Long.parseLong(args[2]);
        LockOptions options = LockOptions.builder()
                .keyPrefix(args[3])
                .lease(Duration.ofSeconds(1))
                .maxWait(Duration.ofSeconds(30))
                .build();
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        HttpCalls calls = HttpCalls.to(port);
        try (Locks locks = RedisLocks.connect(args[0], options);
                FencedLease lease =
                        locks.fenced(LockName.of("account", account)).acquire()) {
            System.out.println("token " + lease.token());
            long read = Long.parseLong(
                    calls.send(calls.get(account, lease.token())).body().strip());
            System.out.println("read " + read);
            orders.readLine();
            HttpResponse<String> answer = calls.send(calls.put(account, lease.token(), read + 10));
            System.out.println(
                    "answer " + answer.statusCode() + " " + answer.body().strip());
        }
    }
}
