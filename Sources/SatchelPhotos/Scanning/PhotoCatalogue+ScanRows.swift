import SatchelStorage

/// A photo that a scan read, to be written into the catalogue.
struct ScanRow {
  /// Of the file in the walk.
  var number: Int
  /// The file's name, without its directory.
  var name: String
  var scanned: ScannedPhoto
}

extension PhotoCatalogue {
  /// Takes photos that were read into the catalogue.
  ///
  /// - Parameters:
  ///   - isOwn: whether an earlier scan has found a file of these bytes here
  ///   - tell: hears for each photo whether its row was changed
  func take(
    _ rows: [ScanRow], in transaction: Transaction, _ id: Int64, isOwn: (MD5) -> Bool,
    tell: (ScanRow, Bool) -> Void
  ) throws {
    let lookup = PhotoLookup(connection: transaction.connection, catalogue: id)
    let table = LocalTable(connection: transaction.connection, catalogue: id)
    var photos: [Photo] = []
    var described: [MD5] = []
    for row in rows {
      let existing = try lookup.photo(row.scanned.md5)
      let photo = row.photo(over: existing, isOwn: isOwn(row.scanned.md5))
      var local = try table.row(row.scanned.md5) ?? LocalRow()
      let isDescribed = row.scanned.facts.describe(&local.metadata)
      if isDescribed {
        try table.put(row.scanned.md5, local)
        described.append(row.scanned.md5)
      }
      if photo != existing { photos.append(photo) }
      tell(row, photo != existing)
    }
    note(described, in: transaction)
    try upsert(photos)
  }
}

extension ImageFacts {
  /// Writes what is known over what was noted of a photo; what is not known stays as it is noted.
  ///
  /// - Returns: whether anything changed
  func describe(_ metadata: inout PhotoMetadata) -> Bool {
    let before = metadata
    metadata.cameraMake = cameraMake ?? metadata.cameraMake
    metadata.cameraModel = cameraModel ?? metadata.cameraModel
    metadata.orientation = orientation ?? metadata.orientation
    metadata.latitude = latitude ?? metadata.latitude
    metadata.longitude = longitude ?? metadata.longitude
    metadata.aperture = aperture ?? metadata.aperture
    metadata.shutterSpeed = shutterSpeed ?? metadata.shutterSpeed
    metadata.iso = iso ?? metadata.iso
    metadata.focalLength = focalLength ?? metadata.focalLength
    return metadata != before
  }
}

extension ScanRow {
  /// The row that the photo gets.
  ///
  /// - Parameters:
  ///   - existing: the row that it has
  ///   - isOwn: whether that row came from a file here; else it is the master's, and another device's name and
  ///     dates for the same bytes are as good as ours: changing them would send every photo to the master again
  func photo(over existing: Photo?, isOwn: Bool) -> Photo {
    var photo = scanned.photo(named: name)
    guard let existing else { return photo }
    photo.applePhotoID = existing.applePhotoID
    photo.width = photo.width ?? existing.width
    photo.height = photo.height ?? existing.height
    guard !isOwn else { return photo }
    var kept = existing
    if kept.width == nil || kept.height == nil { (kept.width, kept.height) = (photo.width, photo.height) }
    return kept
  }
}
