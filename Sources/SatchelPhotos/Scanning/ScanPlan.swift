/// What a scan has to read, and which files are gone. A value made from what is known and what was found: making one
/// touches neither disk nor store.
struct ScanPlan: Sendable {
  /// What is known of a file that was found.
  struct File: Sendable, Equatable {
    /// The file's bytes: as they were when it looks unchanged, as read once it was.
    var md5: MD5?
    /// What an earlier scan found under this path.
    var known: KnownFile?
    var state: State
  }

  enum State: Sendable, Equatable { case toRead, unchanged, added, changed, skipped }

  /// One for each entry of the walk.
  var files: [File] = []
  /// Numbers of the files to read, in the order of their paths.
  var toRead: [Int] = []
  /// Rows of files that are not there any more.
  private var absent: [KnownFile] = []
  /// MD5s of files that could not be looked at this time, and are thought to be there.
  private(set) var trusted: Set<MD5> = []
  /// Whatever a scan has seen before.
  private(set) var seen: Set<MD5> = []

  /// - Parameters:
  ///   - known: in the order of paths, as the walk
  ///   - readsEverything: whether files that look unchanged are read as well
  init(known: [KnownFile], found: PhotoFindings, readsEverything: Bool) {
    files.reserveCapacity(found.entries.count)
    var paths = PhotoPaths(found.tree)
    var place = 0
    for (number, entry) in found.entries.enumerated() {
      let path = paths.bytes(entry)
      while place < known.count, known[place].path.lexicographicallyPrecedes(path) {
        takeAbsent(known[place], found)
        place += 1
      }
      var file = File(state: .toRead)
      while place < known.count, known[place].path == path {
        let row = known[place]
        seen.insert(row.md5)
        if row.isMissing {
          absent.append(row)
        } else {
          file.known = row
          if row.size == entry.size, row.modified == entry.modified, !readsEverything {
            file.md5 = row.md5
            file.state = .unchanged
          }
        }
        place += 1
      }
      if file.state == .toRead { toRead.append(number) }
      files.append(file)
    }
    for row in known[place...] { takeAbsent(row, found) }
  }

  private mutating func takeAbsent(_ row: KnownFile, _ found: PhotoFindings) {
    seen.insert(row.md5)
    if !row.isMissing, found.isUnread(row.path) {
      trusted.insert(row.md5)
    } else {
      absent.append(row)
    }
  }

  // MARK: While files are read

  /// A file that could not be read: what is known of it stays.
  mutating func skip(_ number: Int) {
    files[number].state = .skipped
    if let known = files[number].known { trusted.insert(known.md5) }
  }

  /// A file that was read.
  ///
  /// - Parameter isChanged: whether that changed its photo's row
  mutating func settle(_ number: Int, _ md5: MD5, isChanged: Bool) {
    let file = files[number]
    files[number].md5 = md5
    if file.known == nil {
      files[number].state = seen.contains(md5) ? .changed : .added
    } else {
      files[number].state = isChanged || file.known?.md5 != md5 ? .changed : .unchanged
    }
  }

  /// Rows of files that are not there any more, or have other bytes; the latter were marked when those were read.
  var gone: [KnownFile] { absent + replaced }

  private var replaced: [KnownFile] {
    files.compactMap { file in
      guard let md5 = file.md5, var known = file.known, known.md5 != md5 else { return nil }
      known.isMissing = true
      return known
    }
  }

  /// The number of the first file, in the order of paths, for each MD5 that is known so far.
  func firsts() -> [MD5: Int] {
    var firsts: [MD5: Int] = [:]
    for (number, file) in files.enumerated() {
      if let md5 = file.md5, firsts[md5] == nil { firsts[md5] = number }
    }
    return firsts
  }

  /// Files that were not read, but now are the first ones of their photos, because the file before them is gone.
  /// The photo is to be named after them.
  func heirs() -> [Int] {
    let lost = Set((absent.filter { !$0.isMissing } + replaced).map(\.md5))
    guard !lost.isEmpty else { return [] }
    let firsts = firsts()
    return lost.compactMap { firsts[$0] }.filter { files[$0].state == .unchanged }.sorted()
  }

  /// MD5s that have a file.
  func living() -> Set<MD5> {
    files.reduce(into: trusted) { living, file in
      if let md5 = file.md5 { living.insert(md5) }
    }
  }
}
