extension Satchel {
  /// How the store's file is used: what each subject and each collection takes, what is free, and what waits in the
  /// spill file. Reads every page; changes nothing.
  ///
  /// - Throws: `SatchelError` `.damaged`, `.newer`, `.busy` while another process holds the spill file, `.io`,
  ///   `.closed`
  public func statistics() throws -> StoreStatistics {
    let known = Set(try Self.subjects.filter { try database.has($0) }.map(\.name))
    var statistics = try database.read { connection in
      try StatisticsReader(connection: connection, subjects: known).read(path: path)
    }
    statistics.fileBytes = database.fileBytes
    guard !database.isMemory else { return statistics }
    do {
      guard let content = try SpillFile(store: path).read() else { return statistics }
      let through = try database.read { connection in
        guard known.contains(JournalSchema.subject.name) else { return Int64(-1) }
        let found = try connection.first(
          "SELECT through FROM spill_applied WHERE spill = ?", .text(content.identity)
        ) { try $0.integer(0) }
        return found ?? -1
      }
      statistics.spilled = content.frames.count { $0.number > through }
      statistics.spillDamages = content.damages.map(\.message)
    } catch let error as SatchelError where error.code == .invalid {
      // Something else stands in its place.
      statistics.spillDamages = [error.message]
    }
    return statistics
  }
}
