//! The rules of a table that hold for values: CHECK constraints, invariants, generated columns, defaults, identities
//! (PROTOCOL.md, "Column Invariants" to "Identity Columns").

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow::compute::cast;
use arrow::datatypes::SchemaRef;

use super::conform::physical_schema;
use super::failing_row::{first_not_true, shown};
use super::identities::Identities;
use super::plan::WritePlan;
use crate::alter::constraints;
use crate::alter::identity::Identity;
use crate::error::{Error, Result, condition};
use crate::expr::{Binary, Evaluator, Expr, parse};
use crate::schema::{CURRENT_DEFAULT, GENERATION_EXPRESSION, INVARIANTS, StructField, StructType};

/// What the rules of a table ask of rows of one schema: values for the columns that the rows lack, and conditions.
#[derive(Debug)]
pub(crate) struct Rules {
    path: String,
    schema: StructType,
    /// The schema with the columns that are computed here as nullable: that of rows before.
    incomplete: StructType,
    /// Places of partition columns: their empty texts are null in the table.
    partitions: Vec<usize>,
    checks: Vec<Check>,
    defaults: Vec<(usize, Evaluator)>,
    generated: Vec<(usize, Evaluator)>,
    identities: Identities,
}

/// A condition that must be true, not unknown.
#[derive(Debug)]
struct Check {
    /// What it is, for the error.
    rule: String,
    condition: Evaluator,
}

impl Rules {
    /// The rules for rows that have these columns. Every expression is parsed and bound.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a rule that cannot be computed here, [`Error::SchemaMismatch`] for an identity
    /// column that must not be given, [`Error::InvalidSchema`] for a rule that is none.
    pub(crate) fn of(plan: &WritePlan, given: &StructType) -> Result<Self> {
        let mut rules = Self::none(plan);
        if plan.rules_held {
            return Ok(rules);
        }
        rules.conditions(plan)?;
        for (place, field) in plan.schema.fields.iter().enumerate() {
            let is_given = given.field(&field.name).is_some();
            let text = |key: &str| field.metadata.get(key).and_then(|v| v.as_str());
            if let Some(text) = text(GENERATION_EXPRESSION) {
                rules.generation(place, field, text, is_given)?;
            } else if let Some(identity) = Identity::of(field)? {
                if !is_given {
                    rules.identities.generate(place, field, plan.column_mapping, identity);
                } else {
                    check_explicit(&rules.path, field, identity)?;
                }
            } else if let (Some(text), false) = (text(CURRENT_DEFAULT), is_given) {
                // a default reads no column
                let value = Evaluator::new(text, &StructType::default())?;
                value.check_assignable(&field.data_type)?;
                rules.defaults.push((place, value));
            }
        }
        for place in rules.computed() {
            rules.incomplete.fields[place].nullable = true;
        }
        Ok(rules)
    }

    /// The rules for rows of the table of which some columns got other values. Generated columns that were not among
    /// them are computed again.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a rule that cannot be computed here, [`Error::SchemaMismatch`] for an identity
    /// column that must not be changed, [`Error::InvalidSchema`] for a rule that is none.
    pub(crate) fn of_update(plan: &WritePlan, changed: impl Fn(usize) -> bool) -> Result<Self> {
        let mut rules = Self::none(plan);
        rules.conditions(plan)?;
        for (place, field) in plan.schema.fields.iter().enumerate() {
            if let Some(text) = field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str()) {
                rules.generation(place, field, text, changed(place))?;
            } else if changed(place) && Identity::of(field)?.is_some() {
                return Err(Error::SchemaMismatch {
                    path: rules.path,
                    reason: format!("`{}` is an identity column: it cannot be updated", field.name),
                }
                .named(
                    &condition::IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED,
                    [("colName", field.name.as_str())],
                ));
            }
        }
        for place in rules.computed() {
            rules.incomplete.fields[place].nullable = true;
        }
        Ok(rules)
    }

    /// For rows of the table itself, which keep its rules already.
    pub(crate) fn none(plan: &WritePlan) -> Self {
        Rules {
            path: plan.location.root().to_string(),
            schema: plan.schema.clone(),
            incomplete: plan.schema.clone(),
            partitions: places_of_partitions(plan),
            checks: Vec::new(),
            defaults: Vec::new(),
            generated: Vec::new(),
            identities: Identities::default(),
        }
    }

    fn conditions(&mut self, plan: &WritePlan) -> Result<()> {
        for (rule, text) in conditions(plan)? {
            let condition = Evaluator::condition(&text, &plan.schema)?;
            self.checks.push(Check { rule, condition });
        }
        Ok(())
    }

    fn generation(&mut self, place: usize, field: &StructField, text: &str, is_given: bool) -> Result<()> {
        if !is_given {
            let value = Evaluator::new(text, &self.schema)?;
            value.check_assignable(&field.data_type)?;
            self.generated.push((place, value));
            return Ok(());
        }
        let column = Expr::Column(vec![field.name.clone()]);
        let same = Expr::Binary(Binary::NullSafeEq, Box::new(column), Box::new(parse(text)?));
        let shown = format!("{} <=> {text}", field.name);
        let condition = Evaluator::of(&shown, &same, &self.schema)?;
        self.checks.push(Check { rule: format!("generated column {}", field.name), condition });
        Ok(())
    }

    /// Whether any column is generated here.
    pub(super) fn has_generated(&self) -> bool {
        !self.generated.is_empty()
    }

    /// Whether rows are written as they are.
    pub(super) fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.computed().is_empty()
    }

    /// Names of the columns whose values must be made one after the other, by one writer.
    pub(super) fn sequences(&self) -> Vec<String> {
        self.identities.places().map(|place| self.schema.fields[place].name.clone()).collect()
    }

    /// The schema of rows as they come, in which columns that are computed here may be null.
    pub(crate) fn incomplete(&self) -> &StructType {
        &self.incomplete
    }

    /// Places of the columns that are computed here.
    pub(crate) fn computed(&self) -> Vec<usize> {
        let values = self.defaults.iter().chain(&self.generated).map(|(place, _)| *place);
        values.chain(self.identities.places()).collect()
    }

    /// Places of the columns whose values depend on the row: all that are computed here but defaults.
    pub(crate) fn made_of_rows(&self) -> Vec<usize> {
        self.generated.iter().map(|(place, _)| *place).chain(self.identities.places()).collect()
    }

    /// Puts defaults and identities into a batch of [`Rules::incomplete`] columns.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a default that cannot be computed, [`Error::InvalidColumnChange`] when the next
    /// identities do not fit into 64 bits.
    pub(super) fn supply(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.defaults.is_empty() && self.identities.is_empty() {
            return Ok(batch);
        }
        let mut columns = self.assigned(&self.defaults, &batch)?;
        self.identities.fill(&mut columns, batch.num_rows())?;
        self.rebuilt(batch.schema(), columns, batch.num_rows())
    }

    /// Puts generated columns into a batch.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a value that cannot be computed.
    pub(super) fn generate(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let columns = self.assigned(&self.generated, &batch)?;
        self.rebuilt(batch.schema(), columns, batch.num_rows())
    }

    /// Checks a complete batch, and gives it the schema in which only columns that may be null are nullable.
    ///
    /// # Errors
    /// [`Error::InvariantViolation`] with the first row for which a condition is not true, [`Error::SchemaMismatch`] for
    /// a null in a column that was computed and must not be null.
    pub(super) fn check(&self, batch: RecordBatch, complete: &SchemaRef) -> Result<RecordBatch> {
        for place in self.computed() {
            let field = &self.schema.fields[place];
            if !field.nullable && batch.column(place).logical_null_count() > 0 {
                return Err(Error::SchemaMismatch {
                    path: self.path.clone(),
                    reason: format!("`{}` must not be null, and its computed value is", field.name),
                }
                .named(&condition::NOT_NULL_CONSTRAINT_VIOLATED, [("columnName", field.name.as_str())]));
            }
        }
        let batch = self.as_it_is_read(batch)?;
        for check in &self.checks {
            let Some(broken) = first_not_true(&check.condition.truth(&batch)?) else { continue };
            return Err(Error::InvariantViolation {
                path: self.path.clone(),
                rule: check.rule.clone(),
                expression: check.condition.text().to_owned(),
                row: self.show(&check.condition, &batch, broken),
            });
        }
        self.rebuilt(complete.clone(), batch.columns().to_vec(), batch.num_rows())
    }

    /// The rows as a reader of the table sees them, where there are conditions for them.
    fn as_it_is_read(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.checks.is_empty() {
            return Ok(batch);
        }
        let mut columns = batch.columns().to_vec();
        for place in &self.partitions {
            let Some(texts) = columns[*place].as_string_opt::<i32>() else { continue };
            let nulls: StringArray = texts.iter().map(|text| text.filter(|text| !text.is_empty())).collect();
            columns[*place] = Arc::new(nulls);
        }
        self.rebuilt(batch.schema(), columns, batch.num_rows())
    }

    /// Values of identity columns go on after those that others gave, by physical name.
    pub(crate) fn advance_to(&mut self, marks: &BTreeMap<String, i64>) {
        self.identities.advance_to(marks);
    }

    /// The farthest identities given so far, by physical name.
    pub(crate) fn marks(&self) -> BTreeMap<String, i64> {
        self.identities.marks()
    }

    /// The columns of a batch with these values in their places.
    fn assigned(&self, values: &[(usize, Evaluator)], batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let mut columns = batch.columns().to_vec();
        for (place, value) in values {
            let computed = value.evaluate_as(batch, &self.schema.fields[*place].data_type)?;
            // names inside nested values are those of the files
            columns[*place] = match columns[*place].data_type() {
                to if computed.data_type() == to => computed,
                to => cast(&computed, to)
                    .map_err(|e| Error::arrow(format!("the value of `{}`", value.text()), e))?,
            };
        }
        Ok(columns)
    }

    fn rebuilt(&self, schema: SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let rows = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema, columns, &rows)
            .map_err(|e| Error::arrow(format!("data for `{}`", self.path), e))
    }

    fn show(&self, condition: &Evaluator, batch: &RecordBatch, row: usize) -> String {
        let values = condition.columns().iter().map(|place| {
            let value = shown(batch.column(*place), row).unwrap_or_else(|| "?".to_owned());
            format!("{} = {value}", self.schema.fields[*place].name)
        });
        let values: Vec<_> = values.collect();
        if values.is_empty() { "any row".to_owned() } else { values.join(", ") }
    }
}

/// Places of the partition columns that may be null.
fn places_of_partitions(plan: &WritePlan) -> Vec<usize> {
    let is_partition = |field: &StructField| plan.partition_columns.contains(&field.name);
    let fields = plan.schema.fields.iter().enumerate();
    fields.filter(|(_, field)| field.nullable && is_partition(field)).map(|(place, _)| place).collect()
}

/// The conditions that every row must meet, CHECK constraints and invariants: what each is, and its text.
///
/// # Errors
/// [`Error::InvalidSchema`] for an invariant that is none.
pub(super) fn conditions(plan: &WritePlan) -> Result<Vec<(String, String)>> {
    let checks =
        constraints(&plan.metadata).into_iter().map(|(name, text)| (constraint(name), text.to_owned()));
    let mut found: Vec<_> = checks.collect();
    for (path, field) in plan.schema.explode() {
        let Some(rule) = field.metadata.get(INVARIANTS) else { continue };
        let path = path.join(".");
        let text = rule.as_str().and_then(invariant).ok_or_else(|| Error::InvalidSchema {
            reason: format!("column `{path}`: the invariant {rule} is not understood"),
        })?;
        found.push((format!("invariant of column {path}"), text));
    }
    Ok(found)
}

/// The condition of a CHECK constraint on rows of this schema.
///
/// # Errors
/// [`Error::InvalidExpression`] for what cannot be evaluated, and for what is not a condition.
pub(crate) fn condition_of(name: &str, expression: &str, schema: &StructType) -> Result<Evaluator> {
    Evaluator::condition(expression, schema).map_err(|error| match Evaluator::new(expression, schema) {
        // it is an expression, and no condition
        Ok(_) => {
            error.named(&condition::NON_BOOLEAN_CHECK_CONSTRAINT, [("name", name), ("expr", expression)])
        }
        Err(_) => error,
    })
}

fn constraint(name: &str) -> String {
    format!("CHECK constraint {name}")
}

/// Refuses values for an identity column that must not be given.
///
/// # Errors
/// [`Error::SchemaMismatch`] that names it.
pub(super) fn check_explicit(path: &str, field: &StructField, identity: Identity) -> Result<()> {
    if identity.allow_explicit_insert {
        return Ok(());
    }
    Err(Error::SchemaMismatch {
        path: path.to_owned(),
        reason: format!("`{}` is GENERATED ALWAYS AS IDENTITY: leave it out", field.name),
    }
    .named(&condition::IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED, [("colName", field.name.as_str())]))
}

/// The expression of an invariant: `{"expression": {"expression": "x > 3"}}`.
fn invariant(json: &str) -> Option<String> {
    let rule: serde_json::Value = serde_json::from_str(json).ok()?;
    Some(rule.get("expression")?.get("expression")?.as_str()?.to_owned())
}

/// The Arrow schema of batches before [`Rules::check`].
pub(super) fn incomplete_schema(rules: &Rules, plan: &WritePlan) -> SchemaRef {
    physical_schema(rules.incomplete(), plan.column_mapping)
}

/// Refuses files whose rows nobody checked, in a table that has rules for values.
///
/// # Errors
/// [`Error::UnsupportedFeature`] with the rules.
pub(super) fn refuse_unchecked(plan: &WritePlan) -> Result<()> {
    let rules = Rules::of(plan, &plan.schema.without_identities()?)?;
    if rules.is_empty() {
        return Ok(());
    }
    let mut features: Vec<String> = rules.checks.iter().map(|c| c.rule.clone()).collect();
    features.extend(rules.sequences().iter().map(|name| format!("identity column {name}")));
    Err(Error::UnsupportedFeature {
        path: rules.path,
        role: "writer",
        features,
        supported: vec!["files that deltaic writes itself, row by row".into()],
    })
}

impl StructType {
    /// Without the identity columns whose values must not be given.
    fn without_identities(&self) -> Result<StructType> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            if Identity::of(field)?.is_none_or(|identity| identity.allow_explicit_insert) {
                fields.push(field.clone());
            }
        }
        Ok(StructType { fields })
    }
}
