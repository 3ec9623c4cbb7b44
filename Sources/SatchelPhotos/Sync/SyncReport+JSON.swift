import SatchelJSON

extension SyncReport {
  public var json: JSONValue {
    [
      "downloaded": SyncReport.numbers(downloaded), "uploaded": SyncReport.numbers(uploaded),
      "conflicts": SyncReport.numbers(conflicts), "repaired": SyncReport.numbers(repaired),
      "conflict_rows": .int(Int64(conflictRows)), "removed": .int(removed), "requests": .int(requests),
      "bytes_up": .int(bytesUp),
      "bytes_down": .int(bytesDown), "failed": .array(failed.map(\.json)),
      "rejected": .array(rejected.map(\.json)), "unchanged": .bool(isUnchanged), "dry_run": .bool(isDryRun),
    ]
  }

  private static func numbers(_ shards: [Shard.Index]) -> JSONValue {
    .array(shards.sorted().map { .int(Int64($0.number)) })
  }
}

extension SyncReport.Rejected {
  /// As it crosses the C boundary: shard, and what a rejected row has.
  public var json: JSONValue { row.json(in: shard) }
}
