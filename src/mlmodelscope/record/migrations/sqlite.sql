CREATE TABLE alembic_version (
  version_num VARCHAR(32) NOT NULL,
  CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE records (
  id VARCHAR(40) NOT NULL,
  status VARCHAR(20) NOT NULL,
  plan_digest VARCHAR(64) NOT NULL,
  machine_digest VARCHAR(64) NOT NULL,
  worker_digest VARCHAR(64) NOT NULL,
  model VARCHAR(100) NOT NULL,
  model_version VARCHAR(100) NOT NULL,
  dataset VARCHAR(100) NOT NULL,
  dataset_version VARCHAR(100) NOT NULL,
  created_at DATETIME NOT NULL,
  finished_at DATETIME,
  samples INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  document TEXT NOT NULL, kind VARCHAR(20) DEFAULT 'evaluation' NOT NULL, scenario VARCHAR(20), made_for VARCHAR(20), shown_at DATETIME, headline VARCHAR(100),
  PRIMARY KEY (id)
);
CREATE INDEX records_by_plan ON records (plan_digest, status);
CREATE INDEX records_by_time ON records (created_at);
CREATE INDEX records_by_model ON records (model, created_at);
CREATE TABLE metrics (
  record VARCHAR(40) NOT NULL,
  name VARCHAR(100) NOT NULL,
  value FLOAT NOT NULL,
  low FLOAT,
  high FLOAT, unit VARCHAR(20),
  PRIMARY KEY (record, name),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE INDEX metrics_by_value ON metrics (name, value);
CREATE INDEX records_by_kind ON records (kind, created_at);
CREATE TABLE requests (
  id VARCHAR(40) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  "key" VARCHAR(200),
  created_at DATETIME NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT requests_by_key UNIQUE (owner, "key")
);
CREATE TABLE evaluations (
  id VARCHAR(40) NOT NULL,
  request VARCHAR(40) NOT NULL,
  part_of VARCHAR(40),
  owner VARCHAR(100) NOT NULL,
  kind VARCHAR(20) NOT NULL,
  model VARCHAR(100) NOT NULL,
  dataset VARCHAR(100) NOT NULL,
  state VARCHAR(20) NOT NULL,
  priority INTEGER NOT NULL,
  "exclusive" BOOLEAN NOT NULL,
  agent VARCHAR(100),
  attempt INTEGER NOT NULL,
  created_at DATETIME NOT NULL,
  not_before DATETIME NOT NULL,
  started_at DATETIME,
  ended_at DATETIME,
  lease_until DATETIME,
  timeout_s INTEGER,
  cancel BOOLEAN NOT NULL,
  record VARCHAR(40),
  progress TEXT,
  error TEXT,
  work TEXT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(request) REFERENCES requests (id) ON DELETE CASCADE,
  FOREIGN KEY(part_of) REFERENCES evaluations (id) ON DELETE CASCADE
);
CREATE INDEX evaluations_by_agent ON evaluations (agent, created_at, id) WHERE part_of IS NULL;
CREATE INDEX evaluations_by_dataset ON evaluations (dataset, created_at, id) WHERE part_of IS NULL;
CREATE INDEX evaluations_by_model ON evaluations (model, created_at, id) WHERE part_of IS NULL;
CREATE INDEX evaluations_by_owner ON evaluations (owner, created_at, id) WHERE part_of IS NULL;
CREATE INDEX evaluations_by_state ON evaluations (state, created_at, id) WHERE part_of IS NULL;
CREATE INDEX evaluations_by_request ON evaluations (request);
CREATE INDEX evaluations_in_line ON evaluations (state, not_before);
CREATE INDEX evaluations_by_time ON evaluations (created_at, id) WHERE part_of IS NULL;
CREATE INDEX evaluations_by_whole ON evaluations (part_of) WHERE part_of IS NOT NULL;
CREATE TABLE eligible (
  evaluation VARCHAR(40) NOT NULL,
  agent VARCHAR(100) NOT NULL,
  PRIMARY KEY (evaluation, agent),
  FOREIGN KEY(evaluation) REFERENCES evaluations (id) ON DELETE CASCADE
);
CREATE INDEX eligible_by_agent ON eligible (agent);
CREATE TABLE events (
  number INTEGER NOT NULL,
  evaluation VARCHAR(40) NOT NULL,
  at DATETIME NOT NULL,
  kind VARCHAR(20) NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (number),
  FOREIGN KEY(evaluation) REFERENCES evaluations (id) ON DELETE CASCADE
);
CREATE INDEX events_by_evaluation ON events (evaluation, number);
CREATE TABLE agents (
  id VARCHAR(100) NOT NULL,
  incarnation VARCHAR(40) NOT NULL,
  joined_at DATETIME NOT NULL,
  seen_at DATETIME NOT NULL,
  lease_until DATETIME NOT NULL,
  draining BOOLEAN NOT NULL,
  description TEXT NOT NULL,
  PRIMARY KEY (id)
);
CREATE TABLE tokens (
  id VARCHAR(40) NOT NULL,
  name VARCHAR(100) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  hash VARCHAR(64) NOT NULL,
  scopes VARCHAR(200) NOT NULL,
  created_at DATETIME NOT NULL,
  expires_at DATETIME,
  used_at DATETIME,
  PRIMARY KEY (id),
  UNIQUE (hash)
);
CREATE TABLE manifests (
  kind VARCHAR(20) NOT NULL,
  name VARCHAR(100) NOT NULL,
  version VARCHAR(100) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  created_at DATETIME NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (kind, name, version)
);
CREATE INDEX manifests_by_digest ON manifests (digest);
CREATE TABLE audit (
  number INTEGER NOT NULL,
  at DATETIME NOT NULL,
  owner VARCHAR(100) NOT NULL,
  what VARCHAR(40) NOT NULL,
  about VARCHAR(200) NOT NULL,
  PRIMARY KEY (number)
);
CREATE INDEX audit_by_time ON audit (at);
CREATE TABLE files (
  record VARCHAR(40) NOT NULL,
  name VARCHAR(2100) NOT NULL,
  sha256 VARCHAR(64) NOT NULL,
  size_bytes BIGINT NOT NULL,
  dropped_at DATETIME,
  PRIMARY KEY (record, name),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE TABLE pins (
  record VARCHAR(40) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  pinned_at DATETIME NOT NULL,
  PRIMARY KEY (record),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE TABLE origins (
  record VARCHAR(40) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  statement TEXT NOT NULL,
  source VARCHAR(300) NOT NULL,
  received_at DATETIME NOT NULL,
  PRIMARY KEY (record),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE INDEX origins_by_digest ON origins (digest);
CREATE TABLE signatures (
  record VARCHAR(40) NOT NULL,
  "key" VARCHAR(60) NOT NULL,
  signature VARCHAR(100) NOT NULL,
  PRIMARY KEY (record, "key"),
  FOREIGN KEY(record) REFERENCES origins (record) ON DELETE CASCADE
);
CREATE INDEX evaluations_by_record ON evaluations (record);
CREATE TABLE artifacts (
  digest VARCHAR(64) NOT NULL,
  size BIGINT NOT NULL,
  name VARCHAR(200) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  created_at DATETIME NOT NULL,
  PRIMARY KEY (digest)
);
CREATE INDEX artifacts_by_time ON artifacts (created_at, digest);
CREATE TABLE traces (
  id VARCHAR(32) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  service VARCHAR(200) NOT NULL,
  model VARCHAR(200),
  record VARCHAR(40),
  began_unix_ns BIGINT NOT NULL,
  duration_ns BIGINT NOT NULL,
  spans INTEGER NOT NULL,
  size BIGINT NOT NULL,
  created_at DATETIME NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE INDEX traces_by_time ON traces (created_at, id);
CREATE INDEX traces_by_record ON traces (record);
CREATE INDEX traces_by_service ON traces (service, created_at);
CREATE INDEX traces_by_model ON traces (model, created_at);
CREATE TABLE agent_owners (
  agent VARCHAR(100) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  since DATETIME NOT NULL,
  PRIMARY KEY (agent)
);
CREATE TABLE record_owners (
  record VARCHAR(40) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  PRIMARY KEY (record),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE INDEX records_by_shown ON records (shown_at);
CREATE INDEX records_by_work ON records (status, plan_digest, machine_digest, created_at, id, made_for, model);
CREATE TABLE checks (
  claim VARCHAR(40) NOT NULL,
  record VARCHAR(40) NOT NULL,
  model VARCHAR(300) NOT NULL,
  metric VARCHAR(200) NOT NULL,
  value VARCHAR(40) NOT NULL,
  dataset VARCHAR(300) NOT NULL,
  verdict VARCHAR(30) NOT NULL,
  cause TEXT NOT NULL,
  measured FLOAT NOT NULL,
  low FLOAT NOT NULL,
  high FLOAT NOT NULL,
  samples INTEGER NOT NULL,
  population INTEGER,
  stack VARCHAR(300) NOT NULL,
  machine VARCHAR(300) NOT NULL,
  person VARCHAR(100) NOT NULL,
  replication VARCHAR(40),
  checked_at DATETIME NOT NULL,
  PRIMARY KEY (claim, record)
);
CREATE INDEX checks_by_model ON checks (model, checked_at);
CREATE TABLE reproduction_checks (
  id VARCHAR(40) NOT NULL,
  name VARCHAR(100) NOT NULL,
  digest VARCHAR(64) NOT NULL,
  code_digest VARCHAR(64),
  created_at DATETIME NOT NULL,
  outcome VARCHAR(20) NOT NULL,
  first_failed VARCHAR(40),
  document TEXT NOT NULL,
  PRIMARY KEY (id)
);
CREATE INDEX reproduction_checks_by_name ON reproduction_checks (name, created_at);
CREATE TABLE record_facts (
  record VARCHAR(40) NOT NULL,
  status VARCHAR(20) NOT NULL,
  kind VARCHAR(20) NOT NULL,
  scenario VARCHAR(20),
  made_for VARCHAR(20),
  plan_digest VARCHAR(64) NOT NULL,
  model VARCHAR(100) NOT NULL,
  model_version VARCHAR(100) NOT NULL,
  dataset VARCHAR(100) NOT NULL,
  dataset_version VARCHAR(100) NOT NULL,
  created_at DATETIME NOT NULL,
  finished_at DATETIME,
  samples INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  split VARCHAR(100),
  task VARCHAR(100),
  stack VARCHAR(300),
  framework VARCHAR(300),
  machine VARCHAR(300),
  headline VARCHAR(100),
  value FLOAT,
  low FLOAT,
  high FLOAT,
  unit VARCHAR(20),
  latency_s FLOAT,
  samples_per_s FLOAT,
  took_s FLOAT,
  manifest_digest VARCHAR(64),
  model_digest VARCHAR(64),
  dataset_digest VARCHAR(64),
  software_digest VARCHAR(64),
  subset VARCHAR(60),
  population INTEGER,
  claims TEXT,
  words TEXT NOT NULL,
  PRIMARY KEY (record),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE TABLE record_tags (
  record VARCHAR(40) NOT NULL,
  tag VARCHAR(50) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  at DATETIME NOT NULL,
  PRIMARY KEY (record, tag),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE TABLE record_notes (
  id VARCHAR(40) NOT NULL,
  record VARCHAR(40) NOT NULL,
  owner VARCHAR(100) NOT NULL,
  at DATETIME NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (id),
  FOREIGN KEY(record) REFERENCES records (id) ON DELETE CASCADE
);
CREATE INDEX record_facts_by_time ON record_facts (created_at, record);
CREATE INDEX record_facts_by_model ON record_facts (model, created_at, record);
CREATE INDEX record_facts_by_dataset ON record_facts (dataset, created_at, record);
CREATE INDEX record_tags_by_tag ON record_tags (tag, record);
CREATE INDEX record_notes_by_record ON record_notes (record, at);
INSERT INTO alembic_version VALUES ('0011');
