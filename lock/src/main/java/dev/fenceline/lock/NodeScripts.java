package dev.fenceline.lock;

/** What the nodes of Redlock run; a test gives one of them another clock. */
record NodeScripts(Script look, Script acquire, Script renew, Script release) {

    static final NodeScripts STANDARD = new NodeScripts(
            Script.load("redlock-look.lua"),
            Script.load("redlock-acquire.lua"),
            Script.RENEW,
            Script.load("redlock-release.lua"));
}
