-- The tables of capture-consumer. Generated from capture_consumer/tables; never edited.

CREATE TABLE audit (
  id INTEGER NOT NULL,
  at BIGINT NOT NULL,
  who TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  from_state TEXT,
  to_state TEXT,
  details TEXT DEFAULT '{}' NOT NULL,
  CONSTRAINT audit_pkey PRIMARY KEY (id)
);

CREATE INDEX audit_of_subject ON audit (subject, id);

CREATE TABLE blobs (
  sha VARCHAR(64) NOT NULL,
  bytes BIGINT NOT NULL,
  kind TEXT NOT NULL,
  last_ref_at BIGINT NOT NULL,
  tombstoned_at BIGINT,
  CONSTRAINT blobs_pkey PRIMARY KEY (sha),
  CONSTRAINT blob_bytes_are_counted CHECK (bytes >= 0),
  CONSTRAINT blob_kind_is_known CHECK (kind IN ('file', 'image', 'diff', 'mask', 'log', 'trace', 'manifest'))
);

CREATE INDEX blobs_tombstoned ON blobs (tombstoned_at) WHERE tombstoned_at IS NOT NULL;

CREATE TABLE chores (
  name TEXT NOT NULL,
  next_at BIGINT NOT NULL,
  CONSTRAINT chores_pkey PRIMARY KEY (name)
);

CREATE TABLE jobs (
  id TEXT NOT NULL,
  build_id INTEGER,
  shard_id INTEGER,
  kind TEXT NOT NULL,
  step TEXT,
  status TEXT NOT NULL,
  priority SMALLINT NOT NULL,
  visible_at BIGINT,
  attempt INTEGER NOT NULL,
  suspect BOOLEAN NOT NULL,
  payload TEXT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  finished_at BIGINT,
  code TEXT,
  error TEXT,
  CONSTRAINT jobs_pkey PRIMARY KEY (id),
  CONSTRAINT job_step_is_known CHECK (step IN ('plan', 'shard', 'reduce')),
  CONSTRAINT job_status_is_known CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  CONSTRAINT job_is_visible_while_queued CHECK ((visible_at IS NOT NULL) = (status = 'queued')),
  CONSTRAINT job_is_finished_when_it_ended CHECK ((finished_at IS NOT NULL) = (status IN ('done', 'failed', 'cancelled')))
);

CREATE INDEX jobs_open_of_build ON jobs (build_id) WHERE status IN ('queued', 'running');

CREATE INDEX jobs_prune ON jobs (finished_at, id) WHERE status IN ('done', 'failed', 'cancelled');

CREATE INDEX jobs_ready ON jobs (priority, visible_at, id) WHERE status = 'queued';

CREATE INDEX jobs_suspects ON jobs (visible_at, id) WHERE status = 'queued' AND suspect;

CREATE TABLE lifecycle_events (
  id INTEGER NOT NULL,
  project_id INTEGER,
  build_id INTEGER NOT NULL,
  build_rev INTEGER NOT NULL,
  hook_type TEXT NOT NULL,
  "key" TEXT NOT NULL,
  payload TEXT,
  status TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  claim_no INTEGER NOT NULL,
  next_at BIGINT,
  code TEXT,
  reason TEXT,
  created_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  CONSTRAINT lifecycle_events_pkey PRIMARY KEY (id),
  CONSTRAINT one_row_a_hook_and_rev UNIQUE (build_id, build_rev, hook_type, "key"),
  CONSTRAINT lifecycle_status_is_known CHECK (status IN ('pending', 'running', 'succeeded', 'failed'))
);

CREATE INDEX lifecycle_events_open_of_build ON lifecycle_events (build_id, hook_type, id) WHERE status IN ('pending', 'running');

CREATE INDEX lifecycle_events_pending ON lifecycle_events (id) WHERE status = 'pending';

CREATE INDEX lifecycle_events_prune ON lifecycle_events (changed_at, id) WHERE status IN ('succeeded', 'failed');

CREATE INDEX lifecycle_events_running ON lifecycle_events (changed_at) WHERE status = 'running';

CREATE TABLE outside_systems (
  system TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  CONSTRAINT outside_systems_pkey PRIMARY KEY (system)
);

CREATE TABLE projects (
  id INTEGER NOT NULL,
  slug TEXT NOT NULL,
  repo_kind TEXT,
  repo_name TEXT,
  default_branch TEXT DEFAULT 'main' NOT NULL,
  accept_branches TEXT DEFAULT '[]' NOT NULL,
  protected_branches TEXT DEFAULT '[]' NOT NULL,
  baseline_mode TEXT DEFAULT 'git' NOT NULL,
  supersede BOOLEAN DEFAULT 1 NOT NULL,
  policy_new TEXT DEFAULT 'review' NOT NULL,
  policy_removed TEXT DEFAULT 'review' NOT NULL,
  policy_unstable TEXT DEFAULT 'review' NOT NULL,
  capture TEXT DEFAULT '{}' NOT NULL,
  compare TEXT DEFAULT '{}' NOT NULL,
  modes TEXT DEFAULT '{}' NOT NULL,
  egress_allow TEXT DEFAULT '[]' NOT NULL,
  retention TEXT DEFAULT '{}' NOT NULL,
  next_build_number INTEGER DEFAULT '1' NOT NULL,
  status_context TEXT,
  created_at BIGINT NOT NULL,
  CONSTRAINT projects_pkey PRIMARY KEY (id),
  CONSTRAINT one_project_a_slug UNIQUE (slug),
  CONSTRAINT baseline_mode_is_known CHECK (baseline_mode IN ('git', 'latest')),
  CONSTRAINT policy_new_is_known CHECK (policy_new IN ('review', 'auto')),
  CONSTRAINT policy_removed_is_known CHECK (policy_removed IN ('review', 'auto')),
  CONSTRAINT policy_unstable_is_known CHECK (policy_unstable IN ('review', 'block', 'warn')),
  CONSTRAINT builds_count_from_one CHECK (next_build_number >= 1)
);

CREATE TABLE stores (
  id INTEGER NOT NULL,
  url TEXT NOT NULL,
  recorded_at BIGINT NOT NULL,
  CONSTRAINT stores_pkey PRIMARY KEY (id),
  CONSTRAINT one_store_a_database CHECK (id = 1)
);

CREATE TABLE supervisors (
  incarnation TEXT NOT NULL,
  host TEXT NOT NULL,
  version TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  beat_at BIGINT NOT NULL,
  slots INTEGER NOT NULL,
  draining BOOLEAN NOT NULL,
  CONSTRAINT supervisors_pkey PRIMARY KEY (incarnation)
);

CREATE INDEX supervisors_beats ON supervisors (beat_at);

CREATE TABLE commits (
  project_id INTEGER NOT NULL,
  sha TEXT NOT NULL,
  parents TEXT,
  tree TEXT,
  committed_at BIGINT,
  CONSTRAINT commits_pkey PRIMARY KEY (project_id, sha),
  CONSTRAINT commit_sha_is_whole CHECK (length(sha) IN (40, 64)),
  CONSTRAINT commits_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id)
);

CREATE TABLE images (
  id INTEGER NOT NULL,
  pixel_sha VARCHAR(64) NOT NULL,
  blob_sha VARCHAR(64) NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  bytes BIGINT NOT NULL,
  CONSTRAINT images_pkey PRIMARY KEY (id),
  CONSTRAINT one_image_a_pixel_sha UNIQUE (pixel_sha),
  CONSTRAINT image_has_an_area CHECK (width > 0 AND height > 0),
  CONSTRAINT images_blob_sha_fkey FOREIGN KEY(blob_sha) REFERENCES blobs (sha)
);

CREATE INDEX images_of_blob ON images (blob_sha);

CREATE TABLE job_attempts (
  job_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  owner TEXT NOT NULL,
  host TEXT,
  slot SMALLINT,
  pid INTEGER,
  incarnation TEXT,
  started_at BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  touched_at BIGINT,
  story TEXT,
  ended_at BIGINT,
  outcome TEXT,
  code TEXT,
  error TEXT,
  exit_code INTEGER,
  signal INTEGER,
  oom BOOLEAN,
  peak_rss BIGINT,
  explained BOOLEAN NOT NULL,
  trace_sha VARCHAR(64),
  CONSTRAINT job_attempts_pkey PRIMARY KEY (job_id, attempt),
  CONSTRAINT attempts_count_from_one CHECK (attempt >= 1),
  CONSTRAINT attempt_ends_with_a_word CHECK ((ended_at IS NULL) = (outcome IS NULL)),
  CONSTRAINT attempt_outcome_is_known CHECK (outcome IN ('done', 'failed', 'crashed', 'timed_out', 'lost', 'cancelled', 'released')),
  CONSTRAINT job_attempts_job_id_fkey FOREIGN KEY(job_id) REFERENCES jobs (id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX job_attempts_open ON job_attempts (job_id) WHERE ended_at IS NULL;

CREATE INDEX job_attempts_open_of_owner ON job_attempts (owner) WHERE ended_at IS NULL;

CREATE TABLE keys (
  id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  story_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  browser TEXT NOT NULL,
  CONSTRAINT keys_pkey PRIMARY KEY (id),
  CONSTRAINT one_key_a_story UNIQUE (project_id, name, story_id, mode, browser),
  CONSTRAINT keys_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id)
);

CREATE TABLE lanes (
  id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  ref TEXT NOT NULL,
  latest_build_id INTEGER,
  created_at BIGINT NOT NULL,
  closed_at BIGINT,
  CONSTRAINT lanes_pkey PRIMARY KEY (id),
  CONSTRAINT one_lane_a_ref UNIQUE (project_id, name, ref),
  CONSTRAINT lanes_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id)
);

CREATE TABLE merged_pulls (
  project_id INTEGER NOT NULL,
  merge_sha TEXT NOT NULL,
  pull INTEGER NOT NULL,
  head_sha TEXT,
  branch TEXT,
  source TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  CONSTRAINT merged_pulls_pkey PRIMARY KEY (project_id, merge_sha),
  CONSTRAINT merge_sha_is_whole CHECK (length(merge_sha) IN (40, 64)),
  CONSTRAINT merged_pull_source_is_known CHECK (source IN ('webhook', 'api', 'tree', 'subject')),
  CONSTRAINT merged_pulls_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id)
);

CREATE TABLE post_gates (
  system TEXT NOT NULL,
  credential TEXT NOT NULL,
  not_before BIGINT NOT NULL,
  CONSTRAINT post_gates_pkey PRIMARY KEY (system, credential),
  CONSTRAINT post_gates_system_fkey FOREIGN KEY(system) REFERENCES outside_systems (system)
);

CREATE TABLE posts (
  system TEXT NOT NULL,
  post_id TEXT NOT NULL,
  workspace TEXT NOT NULL,
  container TEXT NOT NULL,
  thread TEXT,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  turn_key TEXT,
  revision INTEGER DEFAULT '0' NOT NULL,
  state TEXT DEFAULT 'queued' NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  claim_no INTEGER DEFAULT '0' NOT NULL,
  queued_at BIGINT NOT NULL,
  next_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  message_ref TEXT,
  code TEXT,
  error TEXT,
  CONSTRAINT posts_pkey PRIMARY KEY (system, post_id),
  CONSTRAINT post_kind_is_known CHECK (kind IN ('message', 'status', 'reaction', 'ephemeral')),
  CONSTRAINT post_state_is_known CHECK (state IN ('queued', 'sending', 'posted', 'failed', 'uncertain', 'cancelled')),
  CONSTRAINT posts_system_fkey FOREIGN KEY(system) REFERENCES outside_systems (system)
);

CREATE INDEX posts_of_turn ON posts (turn_key) WHERE turn_key IS NOT NULL;

CREATE UNIQUE INDEX posts_one_sending ON posts (system, workspace, container) WHERE state = 'sending';

CREATE INDEX posts_open ON posts (system, workspace, container, queued_at, post_id) WHERE state IN ('queued', 'sending');

CREATE TABLE repositories (
  repo_key TEXT NOT NULL,
  project_id INTEGER,
  status TEXT DEFAULT 'pending' NOT NULL,
  marked_at BIGINT,
  installation TEXT,
  repo_name TEXT,
  created_at BIGINT NOT NULL,
  CONSTRAINT repositories_pkey PRIMARY KEY (repo_key),
  CONSTRAINT repository_status_is_known CHECK (status IN ('allowed', 'blocked', 'pending', 'left')),
  CONSTRAINT repositories_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE SET NULL
);

CREATE INDEX repositories_of_project ON repositories (project_id);

CREATE TABLE tokens (
  id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  sha256 VARCHAR(64) NOT NULL,
  scope TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  last_used_at BIGINT,
  CONSTRAINT tokens_pkey PRIMARY KEY (id),
  CONSTRAINT one_token_a_hash UNIQUE (sha256),
  CONSTRAINT token_scope_is_known CHECK (scope IN ('upload', 'upload_untrusted', 'review', 'admin')),
  CONSTRAINT tokens_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);

CREATE INDEX tokens_of_project ON tokens (project_id);

CREATE TABLE builds (
  id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  name TEXT DEFAULT 'default' NOT NULL,
  nonce TEXT NOT NULL,
  lane_id INTEGER NOT NULL,
  commit_sha TEXT,
  head_sha TEXT,
  branch TEXT,
  pull INTEGER,
  base_branch TEXT,
  pinned_base TEXT,
  kind TEXT NOT NULL,
  source_sha VARCHAR(64),
  subset BOOLEAN DEFAULT 0 NOT NULL,
  trusted BOOLEAN DEFAULT 1 NOT NULL,
  ci_run TEXT,
  retry_of INTEGER,
  superseded_by INTEGER,
  phase TEXT NOT NULL,
  verdict TEXT,
  rev INTEGER DEFAULT '0' NOT NULL,
  error_code TEXT,
  error_text TEXT,
  environment TEXT,
  manifest_sha VARCHAR(64),
  waits_for INTEGER,
  counts TEXT DEFAULT '{}' NOT NULL,
  upload_total INTEGER,
  created_at BIGINT NOT NULL,
  activity_at BIGINT NOT NULL,
  pending_at BIGINT,
  finished_at BIGINT,
  deadline_at BIGINT,
  CONSTRAINT builds_pkey PRIMARY KEY (id),
  CONSTRAINT one_build_a_number UNIQUE (project_id, number),
  CONSTRAINT one_build_a_nonce UNIQUE (project_id, name, nonce),
  CONSTRAINT build_kind_is_known CHECK (kind IN ('storybook', 'images')),
  CONSTRAINT build_phase_is_known CHECK (phase IN ('receiving', 'pending', 'planning', 'capturing', 'reducing', 'finished', 'failed', 'cancelled', 'superseded', 'expired')),
  CONSTRAINT build_verdict_is_known CHECK (verdict IN ('passed', 'accepted', 'needs_review', 'rejected', 'broken', 'incomplete', 'skipped')),
  CONSTRAINT finished_has_a_verdict CHECK ((verdict IS NOT NULL) = (phase = 'finished')),
  CONSTRAINT build_ends_with_an_instant CHECK ((finished_at IS NOT NULL) = (phase IN ('finished', 'failed', 'cancelled', 'superseded', 'expired'))),
  CONSTRAINT manifest_is_final CHECK (manifest_sha IS NULL OR phase = 'finished'),
  CONSTRAINT rev_counts_from_zero CHECK (rev >= 0),
  CONSTRAINT commit_sha_is_whole CHECK (length(commit_sha) IN (40, 64)),
  CONSTRAINT builds_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id),
  CONSTRAINT builds_lane_id_fkey FOREIGN KEY(lane_id) REFERENCES lanes (id),
  CONSTRAINT builds_manifest_sha_fkey FOREIGN KEY(manifest_sha) REFERENCES blobs (sha)
);

CREATE INDEX builds_baselines_by_commit ON builds (project_id, name, commit_sha) WHERE phase = 'finished' AND manifest_sha IS NOT NULL;

CREATE INDEX builds_newest_of_line ON builds (project_id, name, id);

CREATE INDEX builds_of_lane ON builds (lane_id, id);

CREATE INDEX builds_of_nonce ON builds (project_id, nonce);

CREATE INDEX builds_open ON builds (phase, id) WHERE phase IN ('receiving', 'pending', 'planning', 'capturing', 'reducing');

CREATE INDEX builds_open_of_lane ON builds (lane_id, id) WHERE phase IN ('receiving', 'pending', 'planning', 'capturing', 'reducing');

CREATE TABLE comparisons (
  id INTEGER NOT NULL,
  from_image INTEGER NOT NULL,
  to_image INTEGER NOT NULL,
  params_sha VARCHAR(64) NOT NULL,
  verdict TEXT NOT NULL,
  changed_px INTEGER NOT NULL,
  ratio DOUBLE NOT NULL,
  densest_block INTEGER NOT NULL,
  box TEXT,
  bands TEXT DEFAULT '[]' NOT NULL,
  mask_sha VARCHAR(64),
  diff_sha VARCHAR(64),
  CONSTRAINT comparisons_pkey PRIMARY KEY (id),
  CONSTRAINT one_comparison_a_rule UNIQUE (from_image, to_image, params_sha),
  CONSTRAINT comparison_verdict_is_known CHECK (verdict IN ('equal', 'tolerated', 'changed')),
  CONSTRAINT ratio_is_a_share CHECK (ratio >= 0 AND ratio <= 1),
  CONSTRAINT comparisons_from_image_fkey FOREIGN KEY(from_image) REFERENCES images (id),
  CONSTRAINT comparisons_to_image_fkey FOREIGN KEY(to_image) REFERENCES images (id)
);

CREATE INDEX comparisons_to_image ON comparisons (to_image);

CREATE TABLE reviews (
  id INTEGER NOT NULL,
  project_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  key_id INTEGER NOT NULL,
  scope_ref TEXT NOT NULL,
  from_image INTEGER,
  to_image INTEGER,
  decision TEXT NOT NULL,
  reviewer TEXT NOT NULL,
  reviewed_at BIGINT NOT NULL,
  build_id INTEGER NOT NULL,
  revoked_at BIGINT,
  CONSTRAINT reviews_pkey PRIMARY KEY (id),
  CONSTRAINT review_decision_is_known CHECK (decision IN ('accepted', 'rejected')),
  CONSTRAINT reviews_project_id_fkey FOREIGN KEY(project_id) REFERENCES projects (id),
  CONSTRAINT reviews_key_id_fkey FOREIGN KEY(key_id) REFERENCES keys (id),
  CONSTRAINT reviews_from_image_fkey FOREIGN KEY(from_image) REFERENCES images (id),
  CONSTRAINT reviews_to_image_fkey FOREIGN KEY(to_image) REFERENCES images (id)
);

CREATE INDEX reviews_of_key ON reviews (key_id, scope_ref, id);

CREATE INDEX reviews_of_scope ON reviews (project_id, name, scope_ref, id);

CREATE TABLE sources (
  source_key TEXT NOT NULL,
  repo_key TEXT NOT NULL,
  status TEXT DEFAULT 'allowed' NOT NULL,
  marked_at BIGINT,
  created_at BIGINT NOT NULL,
  CONSTRAINT sources_pkey PRIMARY KEY (source_key),
  CONSTRAINT source_status_is_known CHECK (status IN ('allowed', 'blocked', 'pending', 'left')),
  CONSTRAINT sources_repo_key_fkey FOREIGN KEY(repo_key) REFERENCES repositories (repo_key)
);

CREATE INDEX sources_of_repository ON sources (repo_key);

CREATE TABLE inbox_events (
  seq INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  source_key TEXT,
  type TEXT NOT NULL,
  class TEXT NOT NULL,
  event_ms BIGINT NOT NULL,
  payload TEXT,
  status TEXT DEFAULT 'pending' NOT NULL,
  attempts INTEGER DEFAULT '0' NOT NULL,
  requeues INTEGER DEFAULT '0' NOT NULL,
  claim_no INTEGER DEFAULT '0' NOT NULL,
  next_attempt_at BIGINT NOT NULL,
  claimed_at BIGINT,
  created_at BIGINT NOT NULL,
  completed_at BIGINT,
  error_code TEXT,
  CONSTRAINT inbox_events_pkey PRIMARY KEY (seq),
  CONSTRAINT one_row_a_delivery UNIQUE (event_id),
  CONSTRAINT event_status_is_known CHECK (status IN ('pending', 'processing', 'done', 'dead', 'skipped')),
  CONSTRAINT event_final_has_no_payload CHECK (payload IS NULL OR status NOT IN ('done', 'dead', 'skipped')),
  CONSTRAINT event_claimed_while_processing CHECK ((claimed_at IS NOT NULL) = (status = 'processing')),
  CONSTRAINT event_ends_with_an_instant CHECK ((completed_at IS NOT NULL) = (status IN ('done', 'dead', 'skipped'))),
  CONSTRAINT inbox_events_source_key_fkey FOREIGN KEY(source_key) REFERENCES sources (source_key)
);

CREATE INDEX inbox_due ON inbox_events (source_key, event_ms, seq) WHERE status = 'pending';

CREATE UNIQUE INDEX inbox_one_processing_a_source ON inbox_events (source_key) WHERE status = 'processing';

CREATE INDEX inbox_prune ON inbox_events (completed_at, seq) WHERE status IN ('done', 'dead', 'skipped');

CREATE TABLE shards (
  id INTEGER NOT NULL,
  build_id INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  state TEXT DEFAULT 'pending' NOT NULL,
  error_code TEXT,
  error_text TEXT,
  planned INTEGER DEFAULT '0' NOT NULL,
  ended INTEGER DEFAULT '0' NOT NULL,
  weight_ms INTEGER DEFAULT '0' NOT NULL,
  ended_at BIGINT,
  CONSTRAINT shards_pkey PRIMARY KEY (id),
  CONSTRAINT one_shard_an_idx UNIQUE (build_id, idx),
  CONSTRAINT shard_state_is_known CHECK (state IN ('pending', 'running', 'done', 'failed', 'cancelled')),
  CONSTRAINT shard_ends_with_an_instant CHECK ((ended_at IS NULL) = (state IN ('pending', 'running'))),
  CONSTRAINT shards_build_id_fkey FOREIGN KEY(build_id) REFERENCES builds (id) ON DELETE CASCADE
);

CREATE INDEX shards_open_of_build ON shards (build_id) WHERE state IN ('pending', 'running');

CREATE TABLE uploads (
  build_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  sha VARCHAR(64) NOT NULL,
  bytes BIGINT NOT NULL,
  shard_idx INTEGER DEFAULT '0' NOT NULL,
  CONSTRAINT uploads_pkey PRIMARY KEY (build_id, path),
  CONSTRAINT upload_bytes_are_counted CHECK (bytes >= 0),
  CONSTRAINT uploads_build_id_fkey FOREIGN KEY(build_id) REFERENCES builds (id) ON DELETE CASCADE
);

CREATE INDEX uploads_of_blob ON uploads (sha);

CREATE TABLE inbox_subjects (
  event_id TEXT NOT NULL,
  subject_key TEXT NOT NULL,
  role TEXT NOT NULL,
  source_key TEXT NOT NULL,
  CONSTRAINT inbox_subjects_pkey PRIMARY KEY (event_id, subject_key, role),
  CONSTRAINT subject_role_is_known CHECK (role IN ('original', 'dependent')),
  CONSTRAINT inbox_subjects_event_id_fkey FOREIGN KEY(event_id) REFERENCES inbox_events (event_id) ON DELETE CASCADE
);

CREATE INDEX inbox_subjects_by_subject ON inbox_subjects (source_key, subject_key, role);

CREATE TABLE snapshots (
  id INTEGER NOT NULL,
  build_id INTEGER NOT NULL,
  key_id INTEGER NOT NULL,
  shard_id INTEGER,
  title TEXT NOT NULL,
  state TEXT NOT NULL,
  flaky BOOLEAN DEFAULT 0 NOT NULL,
  image_id INTEGER,
  copied_from INTEGER,
  error_code TEXT,
  message TEXT,
  took_ms INTEGER,
  outcome TEXT,
  baseline_image_id INTEGER,
  baseline_build_id INTEGER,
  baseline_reason TEXT,
  comparison_id INTEGER,
  review TEXT DEFAULT 'none' NOT NULL,
  review_source TEXT,
  review_no INTEGER DEFAULT '0' NOT NULL,
  CONSTRAINT snapshots_pkey PRIMARY KEY (id),
  CONSTRAINT one_snapshot_a_key UNIQUE (build_id, key_id),
  CONSTRAINT snapshot_state_is_known CHECK (state IN ('planned', 'captured', 'errored', 'unstable', 'lost', 'skipped', 'inherited')),
  CONSTRAINT snapshot_outcome_is_known CHECK (outcome IN ('unchanged', 'changed', 'new', 'removed', 'carried', 'ignored', 'errored', 'unstable', 'lost', 'skipped')),
  CONSTRAINT snapshot_review_is_known CHECK (review IN ('none', 'pending', 'accepted', 'rejected')),
  CONSTRAINT captured_has_an_image CHECK (state <> 'captured' OR image_id IS NOT NULL),
  CONSTRAINT snapshots_build_id_fkey FOREIGN KEY(build_id) REFERENCES builds (id) ON DELETE CASCADE,
  CONSTRAINT snapshots_key_id_fkey FOREIGN KEY(key_id) REFERENCES keys (id),
  CONSTRAINT snapshots_shard_id_fkey FOREIGN KEY(shard_id) REFERENCES shards (id) ON DELETE CASCADE,
  CONSTRAINT snapshots_image_id_fkey FOREIGN KEY(image_id) REFERENCES images (id),
  CONSTRAINT snapshots_baseline_image_id_fkey FOREIGN KEY(baseline_image_id) REFERENCES images (id),
  CONSTRAINT snapshots_comparison_id_fkey FOREIGN KEY(comparison_id) REFERENCES comparisons (id)
);

CREATE INDEX snapshots_of_image ON snapshots (image_id);

CREATE INDEX snapshots_of_key ON snapshots (key_id, id);

CREATE INDEX snapshots_of_shard ON snapshots (shard_id);

CREATE INDEX snapshots_pending_of_key ON snapshots (key_id, image_id) WHERE review = 'pending';

CREATE TABLE tries (
  id INTEGER NOT NULL,
  snapshot_id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL,
  result TEXT NOT NULL,
  image_id INTEGER,
  error TEXT,
  log_sha VARCHAR(64),
  trace_sha VARCHAR(64),
  CONSTRAINT tries_pkey PRIMARY KEY (id),
  CONSTRAINT one_try_a_number UNIQUE (snapshot_id, n),
  CONSTRAINT try_result_is_known CHECK (result IN ('still', 'moving', 'errored', 'died')),
  CONSTRAINT tries_count_from_one CHECK (n >= 1),
  CONSTRAINT tries_snapshot_id_fkey FOREIGN KEY(snapshot_id) REFERENCES snapshots (id) ON DELETE CASCADE,
  CONSTRAINT tries_image_id_fkey FOREIGN KEY(image_id) REFERENCES images (id)
);
