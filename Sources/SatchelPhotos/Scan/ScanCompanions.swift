import SatchelCore

/// The films and sidecars of a scan: which rows of theirs to write and to remove. They are not read; each
/// belongs to the first photo of its directory with its name.
struct ScanCompanions: Sendable {
  private var found: [(file: KnownFile, photo: Int?)] = []
  private var known: [[UInt8]: KnownFile] = [:]
  private var gone: [KnownFile] = []
  /// Whether no file was added, changed or removed.
  private(set) var isUpToDate = true

  /// - Parameters:
  ///   - known: the files of earlier scans
  ///   - found: the result of the walk
  init(known: [KnownFile], found: PhotoFindings) {
    for file in known where file.kind != .photo { self.known[file.path] = file }
    let photos = found.companions.isEmpty ? [:] : Self.photos(of: found)
    var paths = PhotoPaths(found.tree)
    var seen: Set<[UInt8]> = []
    for (entry, kind) in found.companions {
      let path = paths.bytes(entry)
      seen.insert(path)
      let file = KnownFile(
        path: path, md5: nil, kind: kind, size: entry.size, modified: entry.modified, changed: entry.changed)
      let photo = Self.names(of: entry.name).lazy.compactMap { photos[Name(entry.directory, $0)] }.first
      self.found.append((file, photo))
    }
    gone = self.known.values.filter { !seen.contains($0.path) && !found.isUnread($0.path) }
    isUpToDate =
      gone.isEmpty && self.found.allSatisfy { file, _ in self.known[file.path]?.looks(as: file) == true }
  }

  private struct Name: Hashable {
    var directory: Int
    var stem: [UInt8]

    init(_ directory: Int, _ stem: [UInt8]) { (self.directory, self.stem) = (directory, stem) }
  }

  /// The first photos of each name.
  private static func photos(of found: PhotoFindings) -> [Name: Int] {
    var photos: [Name: Int] = [:]
    for (number, entry) in found.entries.enumerated() {
      let name = Array(entry.name.utf8)
      for key in [FileName.lowercased(name), FileName.stem(name)] {
        let key = Name(entry.directory, key)
        if photos[key] == nil { photos[key] = number }
      }
    }
    return photos
  }

  /// The names of the photo that a file can belong to: IMG_1.jpg of IMG_1.jpg.xmp, IMG_1 of IMG_1.xmp and
  /// IMG_1.mov, and IMG_1 of IMG_O1.aae, as iOS names what undoes an edit.
  static func names(of name: String) -> [[UInt8]] {
    let stem = FileName.stem(Array(name.utf8))
    guard let mark = stem.lastIndex(of: UInt8(ascii: "_")),
      stem[(mark + 1)...].first == UInt8(ascii: "o")
    else { return [stem] }
    return [stem, Array(stem[...mark] + stem[(mark + 2)...])]
  }

  /// Writes the rows.
  ///
  /// - Parameter photos: the content of a photo's file, by its number in the walk
  func write(into table: FileTable, photos: (Int) -> MD5?) throws {
    for file in gone { try table.remove(file) }
    for (file, number) in found {
      var file = file
      file.photo = number.flatMap(photos)
      let before = known[file.path]
      // Bytes that were read stay known while the file looks the same.
      if let before, before.looks(as: file) { file.md5 = before.md5 }
      guard file != before else { continue }
      if let before, before.md5 != file.md5 { try table.remove(before) }
      try table.put(file)
    }
  }
}

extension KnownFile {
  fileprivate func looks(as other: KnownFile) -> Bool {
    size == other.size && modified == other.modified && changed == other.changed
      && isMissing == other.isMissing
  }
}
