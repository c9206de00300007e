package dev.fenceline.testkit;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The smallest Ceph that has a gateway for S3: one monitor, one object store that keeps its objects in memory, and the gateway. They
 * trust whoever connects, on the loopback address.
 */
final class CephCluster implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final Path directory = Workspace.newDirectory("ceph");
    private final Path configuration = directory.resolve("ceph.conf");
    private final int port = FreePorts.next();
    private final Deque<Process> daemons = new ArrayDeque<>();

    private CephCluster() {}

    /** Returns when the gateway answers. */
    static CephCluster start(String accessKey, String secretKey) {
        CephProgram.requireAll();
        CephCluster cluster = new CephCluster();
        try {
            cluster.configure(FreePorts.next());
            cluster.startStorage();
            cluster.startGateway(accessKey, secretKey);
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    URI endpoint() {
        return URI.create("http://" + LocalRedis.HOST + ":" + port);
    }

    private void configure(int monitor) {
        UUID id = UUID.randomUUID();
        Workspace.write(configuration, """
                [global]
                fsid = %1$s
                mon_host = v2:127.0.0.1:%2$d
                public_addr = 127.0.0.1
                cluster_addr = 127.0.0.1
                auth_cluster_required = none
                auth_service_required = none
                auth_client_required = none
                keyring = /dev/null
                # A gateway wants an encrypted connection to the monitor otherwise, which needs keys.
                ms_mon_client_mode = crc
                log_file = %3$s/$name.log
                run_dir = %3$s
                crash_dir = %3$s
                admin_socket =
                # One copy of each object, in as few groups as possible.
                osd_pool_default_size = 1
                osd_pool_default_min_size = 1
                osd_pool_default_pg_num = 1
                osd_pool_default_pgp_num = 1
                osd_pool_default_pg_autoscale_mode = off
                osd_crush_chooseleaf_type = 0
                mon_allow_pool_size_one = true
                mon_max_pg_per_osd = 1000

                [mon]
                mon_data = %3$s/mon
                mon_data_avail_crit = 1
                mon_data_avail_warn = 1

                [osd]
                osd_data = %3$s/osd
                osd_objectstore = memstore
                memstore_device_bytes = 4294967296

                [client]
                rgw_data = %3$s/rgw
                rgw_frontends = beast endpoint=127.0.0.1:%4$d
                rgw_override_bucket_index_max_shards = 1
                rgw_dynamic_resharding = false
                """.formatted(id, monitor, directory, port));
        Workspace.newDirectories(directory.resolve("mon"), directory.resolve("osd"), directory.resolve("rgw"));
        String map = directory.resolve("monmap").toString();
        run(
                CephProgram.MONMAPTOOL,
                "--create",
                "--fsid",
                id.toString(),
                "--addv",
                "a",
                "[v2:127.0.0.1:" + monitor + "]",
                map);
        run(CephProgram.MON, "--id", "a", "--mkfs", "--monmap", map);
    }

    private void startStorage() {
        start(CephProgram.MON, "--id", "a");
        String osd = UUID.randomUUID().toString();
        run(CephProgram.CEPH, "osd", "new", osd);
        run(CephProgram.OSD, "--id", "0", "--mkfs", "--osd-uuid", osd);
        start(CephProgram.OSD, "--id", "0");
    }

    private void startGateway(String accessKey, String secretKey) {
        // Waits by itself until objects can be stored.
        run(
                CephProgram.RADOSGW_ADMIN,
                "user",
                "create",
                "--uid=tests",
                "--display-name=tests",
                "--max-buckets=0",
                "--access-key=" + accessKey,
                "--secret-key=" + secretKey);
        Process gateway = start(CephProgram.RADOSGW, "--name", "client.rgw");
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(endpoint()).build();
        Polling.until(
                "radosgw answers at " + endpoint(),
                LIMIT,
                () -> {
                    if (!gateway.isAlive()) {
                        throw failed(CephProgram.RADOSGW, "ended with " + gateway.exitValue());
                    }
                    return answers(client, request);
                },
                () -> "It said: " + said(CephProgram.RADOSGW));
    }

    private static boolean answers(HttpClient client, HttpRequest request) {
        try {
            return client.send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false; // not there yet
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while radosgw starts.", e);
        }
    }

    private Process start(CephProgram program, String... arguments) {
        Process daemon = launch(program, CephProgram.inForeground(arguments));
        daemons.push(daemon);
        Reaper.watch(daemon.pid(), "KILL", directory);
        return daemon;
    }

    private void run(CephProgram program, String... arguments) {
        Process process = launch(program, arguments);
        try {
            if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw failed(program, "did not end within " + LIMIT.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + program + " runs.", e);
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            throw failed(program, "ended with " + process.exitValue());
        }
    }

    private Process launch(CephProgram program, String... arguments) {
        try {
            return new ProcessBuilder(program.command(configuration, arguments))
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output(program).toFile())
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException("Cannot start " + program + " in " + directory + ".", e);
        }
    }

    private Path output(CephProgram program) {
        return directory.resolve(program + ".out");
    }

    private String said(CephProgram program) {
        return Workspace.tail(output(program));
    }

    private IllegalStateException failed(CephProgram program, String how) {
        return new IllegalStateException(program + " " + how + " in " + directory + ". It said: " + said(program));
    }

    @Override
    public void close() {
        while (!daemons.isEmpty()) {
            long pid = daemons.pop().pid();
            ProcessTable.killWithDescendants(pid);
            Reaper.forget(pid);
        }
        Workspace.delete(directory);
    }
}
