package dev.fenceline.testkit;

/** A Sentinel that is a process of this machine; {@code command("SENTINEL", …)} asks it. */
public interface SentinelProcess extends RedisServer, ServerProcess {}
