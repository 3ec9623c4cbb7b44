/// The plan of a scan: which files have to be read, and which were removed. A value computed from the known
/// and the found files, without disk or store.
struct ScanPlan: Sendable {
  /// The state of a file that was found.
  struct File: Sendable, Equatable {
    /// The MD5 of the file's bytes: the known one when the file looks unchanged, else set once it was read.
    var md5: MD5?
    /// The row of this path from an earlier scan.
    var known: KnownFile?
    var state: State
  }

  enum State: Sendable, Equatable { case toRead, unchanged, added, changed, skipped }

  /// The files, one for each entry of the walk.
  var files: [File] = []
  /// Indexes of the files to read, in the order of their paths.
  var toRead: [Int] = []
  /// Rows of files that no longer exist.
  private var absent: [KnownFile] = []
  /// MD5s of files that could not be read this time, and are assumed to exist.
  private(set) var trusted: Set<MD5> = []
  /// All MD5s of earlier scans.
  private(set) var seen: Set<MD5> = []

  /// - Parameters:
  ///   - known: the rows of earlier scans, in the order of paths
  ///   - forceRehash: whether files that look unchanged are read, too
  init(known: [KnownFile], found: PhotoFindings, forceRehash: Bool) {
    files.reserveCapacity(found.entries.count)
    var paths = PhotoPaths(found.tree)
    var position = 0
    for (number, entry) in found.entries.enumerated() {
      let path = paths.bytes(entry)
      while position < known.count, known[position].path.lexicographicallyPrecedes(path) {
        addAbsent(known[position], found)
        position += 1
      }
      var file = File(state: .toRead)
      while position < known.count, known[position].path == path {
        let row = known[position]
        seen.insert(row.md5)
        if row.isMissing {
          absent.append(row)
        } else {
          file.known = row
          if row.size == entry.size, row.modified == entry.modified, !forceRehash {
            file.md5 = row.md5
            file.state = .unchanged
          }
        }
        position += 1
      }
      if file.state == .toRead { toRead.append(number) }
      files.append(file)
    }
    for row in known[position...] { addAbsent(row, found) }
  }

  private mutating func addAbsent(_ row: KnownFile, _ found: PhotoFindings) {
    seen.insert(row.md5)
    if !row.isMissing, found.isUnread(row.path) {
      trusted.insert(row.md5)
    } else {
      absent.append(row)
    }
  }

  // MARK: While files are read

  /// Marks a file that could not be read: its row is kept.
  mutating func skip(_ number: Int) {
    files[number].state = .skipped
    if let known = files[number].known { trusted.insert(known.md5) }
  }

  /// Records a file that was read.
  ///
  /// - Parameter isChanged: whether its photo's row changed
  mutating func recordRead(_ number: Int, _ md5: MD5, isChanged: Bool) {
    let file = files[number]
    files[number].md5 = md5
    if file.known == nil {
      files[number].state = seen.contains(md5) ? .changed : .added
    } else {
      files[number].state = isChanged || file.known?.md5 != md5 ? .changed : .unchanged
    }
  }

  /// Rows of files that no longer exist, or have other bytes; the latter were marked as missing when the
  /// files were read.
  var gone: [KnownFile] { absent + replaced }

  private var replaced: [KnownFile] {
    files.compactMap { file in
      guard let md5 = file.md5, var known = file.known, known.md5 != md5 else { return nil }
      known.isMissing = true
      return known
    }
  }

  /// Returns the index of the first file, in the order of paths, of each MD5 that is known so far.
  func firsts() -> [MD5: Int] {
    var firsts: [MD5: Int] = [:]
    for (number, file) in files.enumerated() {
      if let md5 = file.md5, firsts[md5] == nil { firsts[md5] = number }
    }
    return firsts
  }

  /// Returns unchanged files that have become the first files of their photos, because the first ones were
  /// removed. Their photos are named after them.
  func successors() -> [Int] {
    let lost = Set((absent.filter { !$0.isMissing } + replaced).map(\.md5))
    guard !lost.isEmpty else { return [] }
    let firsts = firsts()
    return lost.compactMap { firsts[$0] }.filter { files[$0].state == .unchanged }.sorted()
  }

  /// Returns the MD5s that have a file.
  func existing() -> Set<MD5> {
    files.reduce(into: trusted) { existing, file in
      if let md5 = file.md5 { existing.insert(md5) }
    }
  }
}
