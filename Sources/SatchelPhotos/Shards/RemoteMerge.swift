import SatchelSync

/// Decides about a shard's local changes when the remote's bytes are applied. A value: it writes nothing.
struct RemoteMerge {
  private let file: ShardFile
  private let rules: RowMergeRules
  private let importedSequence: Int64

  /// - Parameters:
  ///   - record: the shard before
  ///   - file: the remote's bytes
  ///   - sequence: changes up to this one are in the bytes, or in what they were built on; nil for none
  init(
    _ record: ShardRecord, _ file: ShardFile, confirmedUpTo sequence: Int64?, onConflict: ConflictPolicy
  ) {
    self.file = file
    importedSequence = record.importedSequence
    rules = RowMergeRules(
      policy: record.isUnmet && sequence == nil
        ? .firstMeeting : onConflict == .merge ? .merge : .remoteWins, confirmedUpTo: sequence)
  }

  func decision(_ change: LocalChange) -> RowDecision<[UInt8]> {
    // A change by an imported file counts with the import's number.
    let sequence = change.sequence == 0 ? importedSequence : change.sequence
    return RowDecision(
      remote: file.line(of: change.md5).map(Array.init), local: change.local,
      changed: BaseRow(line: change.base, sequence: sequence), rules)
  }
}

extension ShardRecord {
  /// Whether the shard was never synchronized with the remote, or was detached since.
  var isUnmet: Bool { syncedChecksum == nil }
}
