import CSQLite
import SatchelCore

/// Backups of a store in a directory, of which the newest are kept.
///
/// They are named `<store>-<UTC time>.satchel`. Only files with such a name that are stores are ever deleted.
package struct BackupRotation: Sendable {
  /// The directory of the backups.
  package let directory: String
  /// The number of backups to keep; at least 1.
  package let keep: Int

  package init(directory: String, keep: Int) {
    self.directory = directory
    self.keep = max(1, keep)
  }

  /// Makes a backup, and then deletes the oldest ones beyond `keep`.
  ///
  /// - Parameters:
  ///   - time: Unix milliseconds, for the name, which is always later than those of the existing backups
  ///   - backUp: makes the backup at a path
  /// - Throws: as `Database.backup(to:)`; the existing backups are then kept
  package func backUp(
    of database: Database, time: Int64, making backUp: (_ path: String) throws -> BackupReport
  ) throws -> BackupReport {
    let name = BackupName.stem(of: database.path)
    let newest = try list(name).last?.time ?? 0
    let made = BackupName(stem: name, time: max(time, newest + 1))
    var report = try backUp(path(made))
    report.removed = try prune(name)
    return report
  }

  /// Returns the paths of a store's backups, oldest first.
  ///
  /// - Parameter store: the store's path
  package func backups(of store: String) throws -> [String] {
    try list(BackupName.stem(of: store)).map(path)
  }

  /// Returns the paths of files that are not there any more but whose companions with a suffix are: a backup was deleted
  /// without them.
  package func abandoned(_ suffix: String, of store: String) throws -> [String] {
    let stem = BackupName.stem(of: store)
    let names = Set(try entries())
    return names.compactMap { name in
      guard name.hasSuffix(suffix) else { return nil }
      let backup = String(name.dropLast(suffix.count))
      return BackupName(backup, stem: stem) != nil && !names.contains(backup) ? "\(directory)/\(backup)" : nil
    }
  }

  private func path(_ name: BackupName) -> String { "\(directory)/\(name.text)" }

  /// Deletes the oldest backups; one that cannot be deleted now is deleted by the next backup.
  private func prune(_ stem: String) throws -> [String] {
    var removed: [String] = []
    for name in try list(stem).dropLast(keep) {
      let path = path(name)
      // The name does not prove that it is a backup, and a process may have it open.
      guard case .store? = try? StoreFile.examine(path), !StoreFile.hasWAL(path) else { continue }
      if unlink(path) == 0 { removed.append(path) }
    }
    removeParts(stem)
    return removed
  }

  /// Deletes unfinished backups that a crash left.
  private func removeParts(_ stem: String) {
    let names = (try? entries()) ?? []
    for entry in names where entry.hasSuffix(AtomicFile.partSuffix) {
      guard BackupName(String(entry.dropLast(AtomicFile.partSuffix.count)), stem: stem) != nil,
        let file = try? DiskFile("\(directory)/\(entry)", O_RDWR),
        flock(file.descriptor, LOCK_EX | LOCK_NB) == 0, (try? file.isAtPath) == true
      else { continue }
      unlink(file.path)
    }
  }

  private func list(_ stem: String) throws -> [BackupName] {
    try entries().compactMap { BackupName($0, stem: stem) }.ordered { $0.time < $1.time }
  }

  private func entries() throws -> [String] {
    try DiskFile(directory, O_RDONLY | O_DIRECTORY).names()
  }
}

/// The name of a backup, `<stem>-20261121T093000123Z.satchel`, whose alphabetical order is the order of time.
struct BackupName: Equatable {
  let stem: String
  /// Unix milliseconds.
  let time: Int64

  private static let suffix = ".satchel"

  init(stem: String, time: Int64) {
    self.stem = stem
    self.time = min(max(time, 0), Self.latest)
  }

  /// Parses a name; nil for any name that `text` does not produce.
  init?(_ name: String, stem: String) {
    let prefix = stem + "-"
    guard name.hasPrefix(prefix), name.hasSuffix(Self.suffix) else { return nil }
    let digits = name.dropFirst(prefix.count).dropLast(Self.suffix.count).utf8.map { Int32($0) - 48 }
    guard digits.count == 19 else { return nil }
    func number(_ range: Range<Int>) -> Int32 { digits[range].reduce(0) { $0 &* 10 &+ $1 } }
    var parts = tm()
    parts.tm_year = number(0..<4) - 1900
    parts.tm_mon = number(4..<6) - 1
    parts.tm_mday = number(6..<8)
    parts.tm_hour = number(9..<11)
    parts.tm_min = number(11..<13)
    parts.tm_sec = number(13..<15)
    self.init(stem: stem, time: Int64(timegm(&parts)) * 1000 + Int64(number(15..<18)))
    // Rejects characters that are not digits and numbers out of range, which produce another text.
    guard text == name else { return nil }
  }

  var text: String {
    var seconds = time_t(time / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int32, _ count: Int) -> String {
      String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }
    return "\(stem)-" + digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2)
      + digits(parts.tm_mday, 2)
      + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2)
      + digits(Int32(time % 1000), 3) + "Z" + Self.suffix
  }

  /// Returns the name of a store's file without its extension.
  static func stem(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    let stem = name.hasSuffix(suffix) ? String(name.dropLast(suffix.count)) : name
    return stem.isEmpty || stem == ":memory:" ? "store" : stem
  }

  /// The end of the year 9999.
  private static let latest: Int64 = 253_402_300_799_999
}
