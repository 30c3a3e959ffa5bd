"""Examples of each command, for its help and docs/cli.md. Tests run them on the table that `tour` makes."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "alter add-columns": (
        "deltaic alter add-columns orders \"channel STRING COMMENT 'web or shop'\" --after country",
    ),
    "alter add-constraint": ('deltaic alter add-constraint orders positive "amount > 0"',),
    "alter add-feature": ("deltaic alter add-feature orders deletionVectors",),
    "alter change-column": ('deltaic alter change-column orders note --comment "free text"',),
    "alter drop-columns": ("deltaic alter drop-columns orders note customer_id",),
    "alter drop-constraint": ("deltaic alter drop-constraint orders positive --if-exists",),
    "alter drop-feature": ("deltaic alter drop-feature orders deletionVectors",),
    "alter rename-column": ("deltaic alter rename-column orders note remark",),
    "alter set-properties": (
        "deltaic alter set-properties orders delta.enableChangeDataFeed=true delta.enableDeletionVectors=true",
    ),
    "alter unset-properties": ("deltaic alter unset-properties orders delta.enableChangeDataFeed",),
    "append": (
        "deltaic append orders april.parquet",
        "deltaic append s3://bucket/events day.csv --partition-by day --storage-option aws_region=eu-west-1",
    ),
    "changes": (
        "deltaic changes orders --from 1",
        "deltaic changes orders --from 1 --where \"_change_type = 'delete'\" --limit 10 --json",
    ),
    "checkpoint": ("deltaic checkpoint orders",),
    "clean-log": ("deltaic clean-log orders --dry-run",),
    "clone": ("deltaic clone orders@v0 orders-of-january",),
    "compact-log": ("deltaic compact-log orders --start 0 --end 2",),
    "completion": (
        'eval "$(deltaic completion bash)"',
        'eval "$(deltaic completion zsh)"',
        "deltaic completion fish | source",
    ),
    "connect-conf": ("deltaic connect-conf >> spark-defaults.conf",),
    "convert": ("deltaic convert parquet-files --partition-by 'year INT' --yes",),
    "create": (
        'deltaic create people --schema "id BIGINT NOT NULL, name STRING" --cluster-by id',
        "deltaic create more-orders --like april.parquet --partition-by country",
    ),
    "delete": ("deltaic delete orders --where \"order_date < '2026-01-05'\" --yes",),
    "diff": ("deltaic diff orders 0 1", "deltaic diff orders 0 1 --files --json"),
    "doctor": ("deltaic doctor", "deltaic doctor s3://bucket/orders"),
    "explain": (
        "deltaic explain orders --where \"country = 'DE' AND order_date >= '2026-03-16'\" --only kept",
    ),
    "explain-conflict": (
        "deltaic explain-conflict orders --read-version 0 --operation DELETE --where \"country = 'DE'\"",
        "deltaic explain-conflict orders --transaction lost.json",
    ),
    "files": (
        "deltaic files orders --where \"country = 'DE'\"",
        "deltaic files orders@v0 --stats --json --limit 5",
    ),
    "fsck": ("deltaic fsck orders --dry-run",),
    "history": ("deltaic history orders --limit 5", "deltaic history orders --json"),
    "inspect": ("deltaic inspect orders", "deltaic inspect orders@v0 --json"),
    "json-schema": ("deltaic json-schema history", "deltaic json-schema"),
    "log": ("deltaic log orders", "deltaic log orders --limit 1 --json"),
    "manifest": ("deltaic manifest orders",),
    "optimize": (
        "deltaic optimize orders --where \"country = 'DE'\"",
        "deltaic optimize orders --zorder-by customer_id,order_date",
    ),
    "overwrite": (
        "deltaic overwrite orders april.parquet --replace-where \"order_date >= '2026-04-01'\" --yes",
    ),
    "plot": (
        "deltaic plot sizes orders",
        "deltaic plot clustering orders --column order_date --png clustering.png",
        "deltaic plot pruning orders --where \"country = 'DE' AND order_date >= '2026-03-16'\" --svg pruning.svg",
    ),
    "properties": ("deltaic properties orders",),
    "restore": ("deltaic restore orders@v1 --yes", "deltaic restore orders --version 0 --yes"),
    "schema": ("deltaic schema orders", "deltaic schema orders --json"),
    "sql": (
        'deltaic sql orders "SELECT country, sum(amount) AS total FROM t GROUP BY country ORDER BY total"',
        'deltaic sql orders@v0 "SELECT * FROM t WHERE order_id = 7" --format json',
        'deltaic sql orders "FROM t JOIN u USING (country)" --with u=countries -o joined.parquet',
    ),
    "stats": ("deltaic stats orders --where \"country = 'DE'\"",),
    "tour": ("deltaic tour", "deltaic tour --keep orders"),
    "update": ("deltaic update orders --set \"note='late'\" --where \"order_date > '2026-03-20'\"",),
    "vacuum": ("deltaic vacuum orders --dry-run", "deltaic vacuum orders --lite --yes"),
    "verify": ("deltaic verify orders", "deltaic verify orders --deep --json"),
    "watch": ("deltaic watch orders --from 0 --until 2 --json",),
}
"""By the name of the command. `orders` is the table that `deltaic tour --keep orders` makes."""
