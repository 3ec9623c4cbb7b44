import ArgumentParser
import Satchel

/// A position and a distance on the command line: LATITUDE,LONGITUDE[,METRES].
struct NearArgument: ExpressibleByArgument, Decodable {
  let latitude: Double
  let longitude: Double
  let metres: Double

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard (2...3).contains(parts.count), let latitude = parts[0], let longitude = parts[1],
      let metres = parts.count == 3 ? parts[2] : Catalogue.defaultNearby
    else { return nil }
    (self.latitude, self.longitude, self.metres) = (latitude, longitude, metres)
  }
}

/// A record that a search found, and what the search says about it.
struct RecordHit {
  var record: Record
  /// The values of the columns before the document.
  var columns: [String]
  /// The members next to the record in JSON.
  var members: [(String, JSONValue)]

  init(_ hit: RecordSearchHit) {
    record = hit.record
    columns = [hit.path.printable, hit.excerpt.printable]
    let highlights = hit.highlights.map { range -> JSONValue in
      let start = hit.excerpt.utf8.distance(from: hit.excerpt.startIndex, to: range.lowerBound)
      let end = hit.excerpt.utf8.distance(from: hit.excerpt.startIndex, to: range.upperBound)
      return [.int(Int64(start)), .int(Int64(end))]
    }
    members = [
      ("score", .double(hit.score)), ("path", .string(hit.path)), ("excerpt", .string(hit.excerpt)),
      ("highlights", .array(highlights)),
    ]
  }

  init(_ found: NearbyRecord) {
    record = found.record
    columns = ["\(Int(found.distance.rounded()))"]
    members = [("distance", .double(found.distance))]
  }

  var json: JSONValue {
    get throws { .object(JSONObject([("record", try record.json)] + members)) }
  }

  /// Formats hits as a table.
  ///
  /// - Parameter heading: of the columns before the document
  static func table(_ hits: [RecordHit], _ heading: [String]) throws -> String {
    var rows = [["id"] + heading + ["document"]]
    for hit in hits {
      rows.append([hit.record.id.printable] + hit.columns + [try hit.record.document.plainText])
    }
    return Terminal.table(rows) + "\n"
  }
}
