package dev.fenceline.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a JUnit test class a real Redis and a real PostgreSQL: whatever it asks for as a parameter of its constructor or of a
 * method is there.
 *
 * <pre>{@code
 * @RealServers
 * class TransferTest {
 *     @BeforeAll
 *     static void schema(DataSource database) {
 *         FenceMigrations.on(database).install();              // and your own tables
 *     }
 *
 *     @Test
 *     void moneyIsNeitherMadeNorLost(RedisServer redis, LockOptions options, DataSource database) {
 *         try (Locks locks = RedisLocks.connect(redis.uri(), options)) { ... }
 *     }
 * }
 * }</pre>
 *
 * <table>
 *   <caption>What may be asked for</caption>
 *   <tr><th>type</th><th>what it is</th><th>whose it is</th></tr>
 *   <tr><td>{@link javax.sql.DataSource}</td><td>an empty database, as superuser; a new connection at each call</td>
 *       <td>this test class's</td></tr>
 *   <tr><td>{@link dev.fenceline.LockOptions}, {@link dev.fenceline.LockOptions.Builder}</td>
 *       <td>the defaults, with a key prefix; the builder to set more, new for each parameter</td>
 *       <td>the prefix is this test class's</td></tr>
 *   <tr><td>{@link RedisServer}</td><td>that of {@link SharedServers#redis()}</td><td>every test's of this JVM</td></tr>
 *   <tr><td>{@link PostgresServer}</td><td>that of {@link SharedServers#postgres()}</td><td>every test's of this JVM</td></tr>
 *   <tr><td>{@link S3Server}</td><td>that of {@link SharedServers#s3()}, which needs a dependency of its own ({@link
 *       EmbeddedServers#s3()}); {@link S3Server#newBucket()} is the test's own</td><td>every test's of this JVM</td></tr>
 * </table>
 *
 * <p><b>Guarantees:</b> no test class sees the tables or, with these options, the locks of another, also where classes run in
 * parallel. A {@code @Nested} class shares both with the class around it; each subclass of an annotated class has its own. The
 * database is dropped after the class. A server starts when it is first asked for, and none outlives the JVM, even if that is
 * killed (on Linux and macOS).
 *
 * <p><b>Not guaranteed:</b> that a test method finds what it wants: the tests of a class share its database, one after the other or
 * at once. Roles are of the whole server. To kill, pause or reconfigure a server take one of your own from {@link
 * Servers#embedded()}.
 *
 * <p><b>Blocking:</b> 30 s at most for the first start of each server, once its program is unpacked; a second or two as a rule.
 *
 * <p><b>Errors:</b> where a server does not start, every test that asks for it fails, with what it said and what to install.
 *
 * <p>For JUnit 5.12 and later, and 6. The version is that of your project; the testkit brings none.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RealServersExtension.class)
public @interface RealServers {}
