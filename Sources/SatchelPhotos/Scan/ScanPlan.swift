import SatchelCore
/// The plan of a scan: which files have to be read, and which were removed. A value computed from the known
/// files, the photos of the catalogue, and the found files, without disk or store.
struct ScanPlan: Sendable {
  /// The state of a file that was found.
  struct File: Sendable, Equatable {
    /// The MD5 of the file's bytes: the known one when the file looks unchanged, else set once it was read.
    var md5: MD5?
    /// The row of this path from an earlier scan.
    var known: KnownFile?
    var state: State
  }

  enum State: Sendable, Equatable {
    case toRead, unchanged, added, changed, skipped
    /// The photo's row had gone from the catalogue.
    case returned
    /// The photo was deleted on this device, which stays so.
    case hidden
  }

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
  /// The photos that the catalogue has, of those of earlier scans.
  private let present: Set<MD5>
  /// Photos that were deleted on this device.
  private let hidden: Set<MD5>
  /// Photos that were deleted on this device, and that the catalogue has again.
  let shown: Set<MD5>

  /// - Parameters:
  ///   - known: the rows of earlier scans, in the order of paths
  ///   - present: those of their photos that the catalogue has
  ///   - forceRehash: whether files that look unchanged are read, too
  init(known: [KnownFile], present: Set<MD5>, found: PhotoFindings, forceRehash: Bool) {
    self.present = present
    let deleted = Set(known.filter(\.isHidden).compactMap(\.md5))
    hidden = deleted.subtracting(present)
    shown = deleted.intersection(present)
    let known = known.filter { $0.kind == .photo }
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
        if let md5 = row.md5 { seen.insert(md5) }
        if row.isMissing {
          absent.append(row)
        } else {
          file.known = row
          file.state = state(of: row, entry, forceRehash: forceRehash)
          if file.state != .toRead { file.md5 = row.md5 }
        }
        position += 1
      }
      if file.state == .toRead { toRead.append(number) }
      files.append(file)
    }
    for row in known[position...] { addAbsent(row, found) }
  }

  private func state(of row: KnownFile, _ entry: PhotoEntry, forceRehash: Bool) -> State {
    guard row.isUnchanged(entry), let md5 = row.md5 else { return .toRead }
    guard present.contains(md5) else { return hidden.contains(md5) ? .hidden : .toRead }
    return forceRehash ? .toRead : .unchanged
  }

  private mutating func addAbsent(_ row: KnownFile, _ found: PhotoFindings) {
    guard let md5 = row.md5 else { return }
    seen.insert(md5)
    if !row.isMissing, found.isUnread(row.path) {
      trusted.insert(md5)
    } else {
      absent.append(row)
    }
  }

  // MARK: While files are read

  /// Whether a photo was deleted on this device, and its files are there.
  func isHidden(_ md5: MD5) -> Bool { hidden.contains(md5) }

  /// Marks a file that could not be read: its row is kept.
  mutating func skip(_ number: Int) {
    files[number].state = .skipped
    if let md5 = files[number].known?.md5 { trusted.insert(md5) }
  }

  /// Records a file that was read.
  ///
  /// - Parameter isChanged: whether its photo's row changed
  mutating func recordRead(_ number: Int, _ md5: MD5, isChanged: Bool) {
    let file = files[number]
    files[number].md5 = md5
    if hidden.contains(md5) {
      files[number].state = .hidden
    } else if seen.contains(md5), !present.contains(md5) {
      files[number].state = .returned
    } else if file.known == nil {
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
      known.replacement = replacement(of: known, by: md5)
      return known
    }
  }

  /// Returns the photo that took the place of a file, if it is the same one edited: its bytes were nowhere else.
  func replacement(of known: KnownFile, by md5: MD5) -> MD5? {
    known.md5 == md5 || seen.contains(md5) ? nil : md5
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
    let lost = Set((absent.filter { !$0.isMissing } + replaced).compactMap(\.md5))
    guard !lost.isEmpty else { return [] }
    let firsts = firsts()
    return lost.compactMap { firsts[$0] }.filter { files[$0].state == .unchanged }.ordered()
  }

  /// Returns the MD5s that have a file.
  func existing() -> Set<MD5> {
    files.reduce(into: trusted) { existing, file in
      if let md5 = file.md5 { existing.insert(md5) }
    }
  }
}
