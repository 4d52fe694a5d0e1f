-- Schema of a workspace, version 1. PRAGMA user_version holds the version; OPERA refuses a workspace of another one.

CREATE TABLE instances (
    id       TEXT PRIMARY KEY,      -- content hash
    library  TEXT NOT NULL,
    api      TEXT NOT NULL,
    operator TEXT NOT NULL,
    outcome  TEXT NOT NULL,
    document BLOB NOT NULL,         -- instance/1, zlib
    shapes   TEXT NOT NULL          -- coarser hash, the same for all that differ in dtypes and tensor values only
) WITHOUT ROWID;
CREATE INDEX instances_by_library ON instances (library, api, shapes);

CREATE TABLE occurrences (          -- provenance: a few tests of each source by name, all others together as '*'
    instance TEXT NOT NULL REFERENCES instances (id),
    source   TEXT NOT NULL,
    test     TEXT NOT NULL,
    calls    INTEGER NOT NULL,
    run      INTEGER NOT NULL,      -- the last command that wrote it: one command adds calls up; a later command starts from 0
    PRIMARY KEY (instance, source, test)
) WITHOUT ROWID;

CREATE TABLE extractions (          -- the newest extraction of each source
    library  TEXT NOT NULL,
    source   TEXT NOT NULL,
    version  TEXT NOT NULL,
    calls    INTEGER NOT NULL,
    distinct_instances INTEGER NOT NULL,
    operators INTEGER NOT NULL,
    dropped  TEXT NOT NULL,         -- JSON: reason to calls
    seconds  REAL NOT NULL,
    PRIMARY KEY (library, source)
) WITHOUT ROWID;

CREATE TABLE drops (                -- the calls that the newest extraction of each source dropped, without noise
    library  TEXT NOT NULL,
    source   TEXT NOT NULL,
    api      TEXT NOT NULL,
    reason   TEXT NOT NULL,
    calls    INTEGER NOT NULL,
    PRIMARY KEY (library, source, api, reason)
) WITHOUT ROWID;

CREATE TABLE rankings (
    id       INTEGER PRIMARY KEY,
    frontend TEXT NOT NULL,
    compiler TEXT NOT NULL,
    strategy TEXT NOT NULL,
    seed     INTEGER NOT NULL,
    seconds  REAL NOT NULL,
    created  TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE ranked (
    ranking  INTEGER NOT NULL REFERENCES rankings (id) ON DELETE CASCADE,
    place    INTEGER NOT NULL,
    instance TEXT NOT NULL,
    score    REAL NOT NULL,
    PRIMARY KEY (ranking, place)
) WITHOUT ROWID;

CREATE TABLE artefacts (            -- what the materialiser has made, failures included
    key      TEXT PRIMARY KEY,
    document TEXT NOT NULL          -- signature of the user whose workers made it, a space, JSON
) WITHOUT ROWID;

CREATE TABLE campaigns (
    id       TEXT PRIMARY KEY,
    compiler TEXT NOT NULL,
    frontend TEXT NOT NULL,
    settings TEXT NOT NULL,         -- JSON: everything that decides which tests there are and how they run
    versions TEXT NOT NULL,         -- JSON
    known    TEXT NOT NULL,         -- JSON: failures of this subject when the campaign began: fingerprint to the first digits of instances
    seconds  REAL NOT NULL DEFAULT 0,
    complete INTEGER NOT NULL DEFAULT 0,
    stopped_by TEXT,
    started  TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID;

CREATE TABLE results (
    test     TEXT PRIMARY KEY,      -- hash of instance, seed, template, subject, route, input form and versions
    instance TEXT NOT NULL,
    compiler TEXT NOT NULL,
    frontend TEXT NOT NULL,
    route    TEXT NOT NULL,
    form     TEXT NOT NULL,
    seed     INTEGER NOT NULL,
    verdict  TEXT NOT NULL,
    stage    TEXT,
    reason   TEXT,                  -- why unsupported, invalid, undefined or flaky
    converter TEXT,
    fingerprint TEXT,
    detail   TEXT,                  -- JSON: failure, difference, log
    seconds  TEXT NOT NULL,         -- JSON: stage to seconds
    finished TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    machine  TEXT,                  -- which machine ran it, where that was noted
    exporter TEXT                   -- the exporter that failed before the compiler
) WITHOUT ROWID;
CREATE INDEX results_by_fingerprint ON results (fingerprint) WHERE fingerprint IS NOT NULL;

CREATE TABLE machines (             -- machines that results come from
    id       TEXT PRIMARY KEY,      -- hash of architecture and processor features
    document TEXT NOT NULL          -- JSON
) WITHOUT ROWID;

CREATE TABLE results_elsewhere (    -- results of tests that have one in results, from machines of another kind
    test     TEXT NOT NULL,
    machine  TEXT NOT NULL,
    verdict  TEXT NOT NULL,
    stage    TEXT,
    reason   TEXT,
    converter TEXT,
    fingerprint TEXT,
    detail   TEXT,
    seconds  TEXT NOT NULL,
    finished TEXT NOT NULL,
    exporter TEXT,
    PRIMARY KEY (test, machine)
) WITHOUT ROWID;

CREATE TABLE reproductions (        -- outcome of the newest reproducer of a finding
    finding    TEXT PRIMARY KEY,
    script     TEXT NOT NULL,       -- relative to the workspace
    reproduced INTEGER NOT NULL,
    message    TEXT NOT NULL,
    test       TEXT NOT NULL,       -- the failing test that the script shows
    digest     TEXT NOT NULL,       -- SHA-256 of the script
    code       TEXT NOT NULL        -- signature of the user whose OPERA wrote and ran it
) WITHOUT ROWID;

CREATE TABLE finding_ids (          -- ids under which findings were reported; an id names the finding that has its test
    id    TEXT PRIMARY KEY,         -- a fingerprint, or the id of a part that triage split off
    test  TEXT NOT NULL,
    since TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID;

CREATE TABLE reductions (           -- outcome of reducing a failing test
    number      INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    test        TEXT NOT NULL,
    finding     TEXT NOT NULL,      -- hash of fingerprint and trigger; the fingerprint itself without a reduction
    reason      TEXT,               -- why it was not reduced
    instance    BLOB,               -- instance/1, zlib, with all data in it
    trigger     TEXT,               -- JSON
    detail      TEXT NOT NULL,      -- JSON: form, probes, seconds, complexity, complete, confirmed
    UNIQUE (fingerprint, test)
);
CREATE TABLE assignments (          -- which finding a failing test belongs to, where its fingerprint has several
    test    TEXT PRIMARY KEY,
    finding TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE merges (               -- findings that have one root cause, or that a person says have not
    finding TEXT NOT NULL,
    other   TEXT NOT NULL,
    reason  TEXT NOT NULL,
    apart   INTEGER NOT NULL,       -- 1: never merge these two
    PRIMARY KEY (finding, other)
) WITHOUT ROWID;

CREATE TABLE campaign_tests (       -- which results belong to a campaign, in the order in which they came
    campaign TEXT NOT NULL REFERENCES campaigns (id),
    test     TEXT NOT NULL,
    place    INTEGER NOT NULL,
    PRIMARY KEY (campaign, test)
) WITHOUT ROWID;

CREATE TABLE extraction_progress (  -- files of a suite that an unfinished extraction has behind it
    library  TEXT NOT NULL,
    source   TEXT NOT NULL,
    entry    TEXT NOT NULL,         -- path of the file within its suite
    mark     TEXT NOT NULL,         -- hash of the file and of the settings under which it ran
    ended    TEXT NOT NULL,         -- JSON: calls, dropped, outcomes, failure
    digests  BLOB NOT NULL,         -- zlib: the hashes of its distinct instances, 32 bytes each
    PRIMARY KEY (library, source, entry)
) WITHOUT ROWID;
