import SatchelCore
import SatchelJSON
import SatchelStorage

extension PhotoCatalogue {
  /// Adds or replaces photos, as `upsert(_:)` does. Local columns in the objects are set as by
  /// `setLocal(_:json:)`, in the same transaction.
  ///
  /// - Parameter json: an array of photos, or one photo
  /// - Returns: how many rows changed
  /// - Throws: `.invalid` that names path and key, what `upsert(_:)` throws
  @discardableResult
  package func upsert(json: JSONValue) throws -> Int {
    var photos: [Photo] = []
    var local: [(md5: MD5, columns: JSONReading)] = []
    func add(_ json: JSONValue, at path: String) throws {
      let isRow = json.objectValue.map { $0.keys.allSatisfy { Photo.keys.contains($0) } } ?? true
      let object =
        isRow
        ? try JSONReading(path, json, keys: Photo.keys)
        : try JSONReading(local: json, path, keys: JSONReading.allKeys)
      let photo = try Photo(object)
      photos.append(photo)
      if !isRow { local.append((photo.md5, object)) }
    }
    if let rows = json.arrayValue {
      photos.reserveCapacity(rows.count)
      for (index, row) in rows.enumerated() { try add(row, at: "rows: /\(index)") }
    } else {
      try add(json, at: "rows")
    }
    if local.isEmpty { return try upsert(photos) }
    return try write { _, _ in
      let changed = try upsert(photos)
      for (md5, columns) in local { try setLocal(md5, columns) }
      return changed
    }
  }

  /// Sets the local columns that an object contains.
  func setLocal(_ md5: MD5, _ columns: JSONReading) throws {
    try changeLocal(md5) { local, table, _ in
      try local.metadata.update(columns)
      do {
        try local.metadata.validate()
      } catch let error as SatchelError {
        throw SatchelError(error.code, "\(columns.name): \(error.message)", underlying: error)
      }
      if columns.has("starred") { try local.star(columns.boolean("starred") ?? false, in: table) }
    }
  }
}

extension JSONReading {
  static let localKeys = PhotoMetadata.keys.union(["starred"])
  static let allKeys = localKeys.union(Photo.keys)

  /// Reads local columns, and perhaps others; columns that cannot be set are refused with the reason.
  init(local json: JSONValue, _ name: String, keys: Set<String>) throws {
    for key in ["backup_status", "attempts", "last_attempt", "error"] where json[key] != nil {
      throw SatchelError(.invalid, "\(name): \"\(key)\" cannot be set: the steps of the backup determine it")
    }
    guard json["photodate_source"] == nil else {
      throw SatchelError(.invalid, "\(name): \"photodate_source\" cannot be set: a scan determines it")
    }
    guard json["local_only"] == nil else {
      throw SatchelError(
        .invalid, "\(name): \"local_only\" cannot be set: the content of the remote determines it")
    }
    try self.init(name, json, keys: keys)
  }
}

extension MD5 {
  /// Reads an array of MD5 strings.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the path
  package static func list(json: JSONValue) throws -> [MD5] {
    guard let values = json.arrayValue else {
      throw SatchelError(.invalid, "md5s: must be an array, is \(json.kind)")
    }
    return try values.enumerated().map { index, value in
      guard let md5 = value.stringValue.flatMap({ MD5($0) }) else {
        throw SatchelError(.invalid, "md5s: /\(index) is not 32 hexadecimal digits")
          .at(subject: Change.Subject.photos.rawValue, pointer: "/\(index)")
      }
      return md5
    }
  }
}
