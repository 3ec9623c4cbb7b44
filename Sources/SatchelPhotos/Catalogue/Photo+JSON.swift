import SatchelJSON

extension Photo {
  /// The row's members, in the order of its columns.
  var members: JSONObject {
    var object = JSONObject()
    object["md5"] = .string(md5.description)
    object["filename"] = .string(filename)
    object["size"] = .int(size)
    object["photodate"] = .int(photodate)
    object["modified"] = .int(modified)
    object["width"] = width.map { .int($0) } ?? .null
    object["height"] = height.map { .int($0) } ?? .null
    object["apple_photo_id"] = applePhotoID.map { .string($0) } ?? .null
    return object
  }

  /// As it crosses the C boundary: md5, filename, size, photodate, modified, width, height, apple_photo_id.
  public var json: JSONValue { .object(members) }

  /// The names of its members.
  static let keys: Set = [
    "md5", "filename", "size", "photodate", "modified", "width", "height", "apple_photo_id",
  ]

  /// Reads what `json` gave; width, height and apple_photo_id may be null or absent.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the key
  public init(json: JSONValue) throws { try self.init(JSONReading("photo", json, keys: Self.keys)) }

  init(_ object: JSONReading) throws {
    guard let md5 = MD5(try object.needed("md5", object.text("md5"))) else {
      throw object.fault("md5", "is not 32 hexadecimal digits")
    }
    self.init(
      md5: md5, filename: try object.needed("filename", object.text("filename")),
      size: try object.needed("size", object.number("size")),
      photodate: try object.needed("photodate", object.number("photodate")),
      modified: try object.needed("modified", object.number("modified")), width: try object.number("width"),
      height: try object.number("height"), applePhotoID: try object.text("apple_photo_id"))
    try validate()
  }
}
