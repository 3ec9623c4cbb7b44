/// Files that are restored together: a photo with its films and sidecars, whose names belong to each other.
struct RestoreUnit: Sendable {
  struct File: Sendable {
    var path: String
    var md5: MD5
    /// Unix seconds.
    var modified: Int64?

    var place: Place { Place(path: path, md5: md5) }
  }

  /// A path, and what it has.
  struct Place: Hashable {
    var path: String
    var md5: MD5
  }

  var files: [File]
  /// The beginning of all names, in lower case: that of the photo without its extension.
  private var stem: [UInt8]

  init(_ file: File) {
    files = [file]
    stem = Self.stem(Array(Self.name(of: file.path).utf8))
  }

  /// The files of indexes, in the order of their photos. What several devices have at one path is one file.
  static func units(_ rows: [BackupIndex.Row]) -> [RestoreUnit] {
    var units: [RestoreUnit] = []
    var photos: [Name: Int] = [:]
    // Of photos that films or sidecars belong to.
    let owners = Set(rows.lazy.compactMap(\.photo))
    var seen: Set<Place> = []
    func file(_ row: BackupIndex.Row) -> File? {
      let file = File(path: row.path, md5: row.md5, modified: row.modified)
      return seen.insert(file.place).inserted ? file : nil
    }
    for row in rows where row.kind == .photo {
      guard let file = file(row) else { continue }
      let name = Array(name(of: row.path).utf8)
      for name in owners.contains(row.md5) ? [FileName.lowercased(name), FileName.stem(name)] : [] {
        let name = Name(folder: String(folder(of: row.path)), name: name, photo: row.md5)
        if photos[name] == nil { photos[name] = units.count }
      }
      units.append(RestoreUnit(file))
    }
    for row in rows where row.kind != .photo {
      guard let file = file(row) else { continue }
      let unit = ScanCompanions.names(of: String(name(of: row.path))).lazy.compactMap { name in
        row.photo.flatMap { photos[Name(folder: String(folder(of: row.path)), name: name, photo: $0)] }
      }.first
      // Two devices may have other bytes at one path.
      if let unit, !units[unit].files.contains(where: { $0.path == file.path }) {
        units[unit].files.append(file)
      } else {
        units.append(RestoreUnit(file))
      }
    }
    return units
  }

  /// Gives the films and sidecars the folder and the name of their photo, where this device has it under another path.
  mutating func follow(_ photo: String) {
    let name = Array(Self.name(of: photo).utf8)
    let new = Self.stem(name)
    for index in files.indices {
      let old = Array(Self.name(of: files[index].path).utf8)
      let rest =
        FileName.lowercased(old).starts(with: stem) ? name[..<new.count] + old[stem.count...] : old[...]
      files[index].path = Self.folder(of: photo) + String(decoding: rest, as: UTF8.self)
    }
    stem = new
  }

  private struct Name: Hashable {
    var folder: String
    var name: [UInt8]
    var photo: MD5
  }

  /// The paths of the files; from 2 on with a number, which all of them get in the same place: IMG_1 (2).jpg,
  /// IMG_1 (2).jpg.xmp and IMG_1 (2).mov.
  func paths(_ number: Int) -> [String] {
    if number == 1 { return files.map(\.path) }
    return files.map { file in
      let name = Array(Self.name(of: file.path).utf8)
      let count = FileName.lowercased(name).starts(with: stem) ? stem.count : Self.stem(name).count
      let numbered = name[..<count] + Array(" (\(number))".utf8) + name[count...]
      return Self.folder(of: file.path) + String(decoding: numbered, as: UTF8.self)
    }
  }

  /// The part before the number. A name that begins with its only dot has no extension.
  private static func stem(_ name: [UInt8]) -> [UInt8] {
    let stem = FileName.stem(name)
    return stem.isEmpty ? FileName.lowercased(name) : stem
  }

  private static func start(of path: String) -> String.Index {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
  }

  /// The name at the end of a path.
  static func name(of path: String) -> Substring { path[start(of: path)...] }

  /// The path before its name, with the slash.
  private static func folder(of path: String) -> Substring { path[..<start(of: path)] }
}
